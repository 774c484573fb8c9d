// The query of the page's address has the state of the page. So a reader can bookmark or send the address of a view,
// and the browser's back button returns to the last state.
import { signal } from '@preact/signals'
import { secret } from './share'

export const presets = ['last24Hours', 'last7Days', 'last30Days', 'today', 'thisWeek', 'thisMonth'] as const
export type Preset = (typeof presets)[number]
export type Days = { from: string; to: string }
export const comparisons = ['previousPeriod', 'previousYear', 'previousYearWeekday', 'none'] as const
export type Comparison = (typeof comparisons)[number]
export const whos = ['people', 'agents', 'all'] as const
export type Who = (typeof whos)[number]
export const metrics = ['views', 'people'] as const
export type Metric = (typeof metrics)[number]

export const views = [
  ...(['overview', 'live', 'pages', 'search', 'agents', 'audience', 'broken'] as const),
  ...(['feedback', 'links', 'openapi', 'journeys', 'explore', 'health', 'settings'] as const),
] as const
export type ViewName = (typeof views)[number]
/** unshared has the views that a share link does not show, because these views show more than figures. */
export const unshared: ViewName[] = ['pages', 'broken', 'health', 'settings']
export const tabs = ['read', 'never', 'stale', 'agents', 'rated'] as const
export type Tab = (typeof tabs)[number]

/** Filter is a condition on a column. The value null selects events without a value in the column. */
export type Filter = { column: string; not: boolean; value: string | null }

export type State = {
  /**
   * org and site are the ids of an organization and a site. If they are empty, the page shows the list of all sites.
   */
  org: string
  site: string
  /** view is the name of the view that is shown. */
  view: ViewName
  /** page is the page that a view is about: space/id, or a path that begins with /. */
  page: string
  /**
   * tab is the tab of the list of pages. sort is the column by which the list's rows are sorted. A minus sign before
   * the column means descending order.
   */
  tab: Tab
  sort: string
  range: Preset | Days
  compare: Comparison
  who: Who
  metric: Metric
  filters: Filter[]
  /** zone is the time zone of the figures. If it is undefined, the figures have the site's zone. */
  zone: Zone
  /**
   * by, of and step are the reader's choices in the view explore: a column, a metric, and the interval of the graph. An
   * empty step means no graph.
   */
  by: string
  of: string
  step: string
  /** funnel has the steps of a funnel. If it is empty, the page uses default steps. */
  funnel: Filter[]
}

/**
 * Zone is the name of a time zone. If it is undefined, a query uses the site's zone. A time is then shown in the zone
 * of the device.
 */
export type Zone = string | undefined

const isDay = (text: string | null): text is string => /^\d{4}-\d\d-\d\d$/.test(text ?? '')

/** among returns the value if it is in the list. If not, it returns the value `otherwise`. */
function among<T extends string>(list: readonly T[], value: string | null, otherwise: T): T {
  return list.find((one) => one === value) ?? otherwise
}

/** word returns the value if it has the form of a column's name. If not, it returns the value `otherwise`. */
const word = (value: string | null, otherwise: string) => /^-?[A-Za-z]+$/.exec(value ?? '')?.[0] ?? otherwise

/** validZone returns the name of a time zone, or undefined if there is no such zone. */
function validZone(zone: string): Zone {
  try {
    return Intl.DateTimeFormat('en', { timeZone: zone }) && zone
  } catch {
    return undefined // the zone in an address can be any text
  }
}

function readFilter(text: string): Filter | undefined {
  const [, word, column, , value] = /^(is|not),([A-Za-z]+)(,([\s\S]*))?$/.exec(text) ?? []
  return word && column ? { column, not: word === 'not', value: value ?? null } : undefined
}

export function read(query: string): State {
  const q = new URLSearchParams(query)
  const from = q.get('from')
  const to = q.get('to')
  return {
    org: q.get('org') ?? '',
    site: q.get('site') ?? '',
    view: among(views, q.get('view'), 'overview'),
    page: q.get('page') ?? '',
    tab: among(tabs, q.get('tab'), 'read'),
    sort: word(q.get('sort'), ''),
    range: isDay(from) && isDay(to) && from <= to ? { from, to } : among(presets, q.get('range'), 'last7Days'),
    compare: among(comparisons, q.get('compare'), 'previousPeriod'),
    who: among(whos, q.get('who'), 'people'),
    metric: among(metrics, q.get('metric'), 'views'),
    filters: q.getAll('f').flatMap((text) => readFilter(text) ?? []),
    zone: validZone(q.get('zone') ?? ''),
    by: word(q.get('by'), 'urlPath'),
    of: word(q.get('of'), 'eventsCount'),
    step: word(q.get('step'), ''),
    funnel: q.getAll('then').flatMap((text) => readFilter(text) ?? []),
  }
}

/** write returns the query of the address for a state. It leaves out members that have the default value. */
export function write(s: State): string {
  const q = new URLSearchParams()
  const set = (name: string, value: string, usual: string) => value !== usual && q.set(name, value)
  set('org', s.org, '')
  set('site', s.site, '')
  set('view', s.view, 'overview')
  set('page', s.page, '')
  set('tab', s.tab, 'read')
  set('sort', s.sort, '')
  if (typeof s.range === 'string') set('range', s.range, 'last7Days')
  else {
    q.set('from', s.range.from)
    q.set('to', s.range.to)
  }
  set('compare', s.compare, 'previousPeriod')
  set('who', s.who, 'people')
  set('metric', s.metric, 'views')
  set('zone', s.zone ?? '', '')
  set('by', s.by, 'urlPath')
  set('of', s.of, 'eventsCount')
  set('step', s.step, '')
  const append = (name: string, list: Filter[]) =>
    list.forEach((f) => q.append(name, (f.not ? 'not,' : 'is,') + f.column + (f.value === null ? '' : ',' + f.value)))
  append('f', s.filters)
  append('then', s.funnel)
  const text = q.toString()
  return (text ? '?' + text : location.pathname) + (secret ? '#share=' + secret : '')
}

export const state = signal(read(location.search))
addEventListener('popstate', () => (state.value = read(location.search)))

/** siteZones has the time zones of sites by the ids of the sites. Answers name the zone of their site. */
export const siteZones: Record<string, string> = {}
/**
 * zone returns the time zone in which times are shown. It returns undefined until the site's zone is known. Times are
 * then shown in the device's zone.
 */
export const zone = (): Zone => state.value.zone ?? siteZones[state.value.site]

/** go shows another state. If unseen is set, the state replaces the current entry of the browser's history. */
export function go(change: Partial<State>, unseen = false) {
  const next = { ...state.value, ...change }
  history[unseen ? 'replaceState' : 'pushState'](null, '', write(next))
  state.value = next
}

/**
 * elsewhere has the initial values of the members of a state that belong to a certain page or view. A link to another
 * view sets these members.
 */
export const elsewhere = { page: '', tab: 'read', sort: '', filters: [], funnel: [] } satisfies Partial<State>

/** next returns the value that follows a value in a list. After the last value, it returns the first value. */
export function next<T>(list: readonly T[], value: T): T {
  return list[(list.indexOf(value) + 1) % list.length] as T
}

export function addFilter(filter: Filter) {
  const same = (f: Filter) => f.column === filter.column && f.value === filter.value
  go({ filters: [...state.value.filters.filter((f) => !same(f)), filter] })
}
