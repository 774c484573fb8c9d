// The table of lists: a row is a panel, with its query of the batch and how its rows read.
import type { ComponentChildren } from 'preact'
import type { State } from './address'
import { brief, country, count, share } from './format'
import { asRatings, helpful, type Answers, type Ratings, type Row } from './rows'
import { texts } from './texts'

export type Panel = {
  /** id is the name of its query, too. */
  id: keyof typeof texts.panels
  /** column is the filter that a click on a row adds. */
  column: string
  /** opens says that a row is a page, which can be opened. */
  opens?: true
  name: (key: string | null) => string
  /** size is the length of a row's bar. */
  size: (value: unknown) => number
  show: (value: unknown) => ComponentChildren
  unit: (s: State) => string
}

const number = (value: unknown) => (typeof value === 'number' ? value : 0)
const plain = (key: string | null) => key || texts.blank
const counted = {
  size: number,
  show: (value: unknown) => <span title={count(number(value))}>{brief(number(value))}</span>,
}
const visitors = (s: State) => (s.who === 'people' ? texts.units.people : texts.units.events)

const read = (s: State) =>
  s.who === 'people' ? texts.units.views : s.who === 'agents' ? texts.units.reads : texts.units.events
const unit = (text: string) => () => text
/** path is the path of an address. Events can have any text. */
function path(key: string | null): string {
  try {
    return new URL(key ?? '').pathname
  } catch {
    return plain(key)
  }
}

const all = [
  { id: 'pages', column: 'urlPath', opens: true, name: plain, ...counted, unit: read },
  { id: 'sources', column: 'sourceName', name: (key) => key || texts.direct, ...counted, unit: visitors },
  {
    id: 'countries',
    column: 'visitorGeoCountry',
    ...counted,
    unit: visitors,
    name: (key) => (key ? country(key) : texts.unknownCountry),
  },
  { id: 'searches', column: 'eventSearchQuery', name: plain, ...counted, unit: unit(texts.units.searches) },
  {
    id: 'agents',
    column: 'agentOperator',
    name: (key) => key || texts.unknownAgent,
    ...counted,
    unit: unit(texts.units.reads),
  },
  {
    id: 'feedback',
    column: 'urlPath',
    opens: true,
    name: plain,
    size: () => 0,
    show: (value) => <Rated ratings={value as Ratings} />,
    unit: unit(texts.units.worst),
  },
  { id: 'before', column: 'referrer', name: path, ...counted, unit: unit(texts.units.views) },
  { id: 'after', column: 'urlPath', opens: true, name: plain, ...counted, unit: unit(texts.units.views) },
  { id: 'pageSearches', column: 'eventSearchQuery', name: plain, ...counted, unit: unit(texts.units.searches) },
  {
    id: 'links',
    column: 'eventLinkTargetDomain',
    name: (key) => key || texts.ownSite,
    ...counted,
    unit: unit(texts.units.clicks),
  },
  { id: 'comments', column: 'eventPageFeedbackComment', name: plain, ...counted, unit: unit(texts.units.comments) },
  { id: 'addresses', column: 'urlPath', name: plain, ...counted, unit: unit(texts.units.events) },
  { id: 'searched', column: 'eventSearchQuery', name: plain, ...counted, unit: unit(texts.units.searches) },
  { id: 'opened', column: 'eventSearchQuery', name: plain, ...counted, unit: unit(texts.units.clicks) },
  { id: 'questions', column: 'eventSearchQuery', name: plain, ...counted, unit: unit(texts.units.questions) },
  {
    id: 'rated',
    column: 'eventSearchQuery',
    name: plain,
    size: () => 0,
    show: (value) => <Rated ratings={asRatings(value as Answers)} />,
    unit: unit(texts.units.worst),
  },
  { id: 'searchPages', column: 'urlPath', opens: true, name: plain, ...counted, unit: unit(texts.units.searches) },
] satisfies Panel[]

const byID = new Map<Panel['id'], Panel>(all.map((p) => [p.id, p]))
/** panels returns the panels of a view. */
export const panels = (...ids: Panel['id'][]) => ids.flatMap((id) => byID.get(id) ?? [])
/** nameOf is how a value of a column reads. */
export const nameOf = (column: string, value: string | null) =>
  all.find((p) => p.column === column)?.name(value) ?? value ?? texts.blank

/** Rated shows how many of a page's ratings are of each kind. */
export function Rated({ ratings }: { ratings: Ratings }) {
  const kinds = ['good', 'ok', 'bad'] as const
  const all = kinds.map((k) => `${count(ratings[k])} ${texts[k]}`).join(', ')
  return (
    <span class="rated" title={all}>
      <span class="hidden">{all}</span>
      <span aria-hidden="true">{share(helpful(ratings) ?? 0)}</span>
      <span class="rated-bar" aria-hidden="true">
        {kinds.map((k) => (
          <i key={k} class={k} style={{ flexGrow: ratings[k] }} />
        ))}
      </span>
    </span>
  )
}

/** empty reports whether a list has nothing to show. A single row of an unknown country says nothing. */
export const empty = (panel: Panel, rows: Row[]) =>
  rows.length === 0 || (panel.id === 'countries' && rows.every((r) => r.key === null))
