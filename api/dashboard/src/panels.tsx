// The table of lists of the overview, and what makes a list: a row is a panel, with its query of the batch and how its
// rows read.
import type { ComponentChildren } from 'preact'
import type { State } from './address'
import { brief, country, count, share } from './format'
import { helpful, rated, type Ratings, type Row } from './rows'
import { texts } from './texts'

export type Panel = {
  /** id is the name of its query, too. */
  id: string
  title: string
  /** none says that there are no rows. */
  none: string
  /** about says what the rows mean, if the title is not enough. */
  about?: string
  /** column is the filter that a click on a row adds, and label its name. */
  column: string
  label: string
  /** opens says that a row is a page, which can be opened. */
  opens?: true
  /** still says that a row is no filter. */
  still?: true
  /** telling says that rows without a key say nothing by themselves. */
  telling?: true
  /** map says that rows are countries, which a map shows. */
  map?: true
  /** lessIsGood says that readers are glad of small numbers. */
  lessIsGood?: true
  name: (key: string | null) => string
  /** size is the length of a row's bar. */
  size: (value: unknown) => number
  show: (value: unknown) => ComponentChildren
  unit: (s: State) => string
}

/** Names are the texts of panels. */
type Names<ID extends string> = {
  panels: Record<ID, string>
  empty: Record<ID, string>
  columns: Record<string, string>
}

/** table gives panels their texts. */
export const table = <ID extends string>(
  names: Names<ID>,
  all: (Omit<Panel, 'title' | 'none' | 'label'> & { id: ID })[],
): Panel[] =>
  all.map((p) => ({
    ...p,
    title: names.panels[p.id],
    none: names.empty[p.id],
    label: names.columns[p.column] ?? p.column,
  }))

const number = (value: unknown) => (typeof value === 'number' ? value : 0)
export const plain = (key: string | null) => key || texts.blank
export const counted = {
  size: number,
  show: (value: unknown) => <span title={count(number(value))}>{brief(number(value))}</span>,
}
export const visitors = (s: State) => (s.who === 'people' ? texts.units.people : texts.units.events)
export const read = (s: State) =>
  s.who === 'people' ? texts.units.views : s.who === 'agents' ? texts.units.reads : texts.units.events
export const unit = (text: string) => () => text

export const overviewPanels = table(texts, [
  { id: 'pages', column: 'urlPath', opens: true, name: plain, ...counted, unit: read },
  { id: 'sources', column: 'sourceName', name: (key) => key || texts.direct, ...counted, unit: visitors },
  {
    id: 'countries',
    column: 'visitorGeoCountry',
    telling: true,
    map: true,
    ...counted,
    unit: visitors,
    name: (key) => (key ? country(key) : texts.unknownCountry),
  },
  {
    id: 'searches',
    column: 'eventSearchQuery',
    lessIsGood: true,
    name: plain,
    ...counted,
    unit: unit(texts.units.searches),
  },
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
])

/** Rated shows how many of a page's ratings are of each kind. */
export function Rated({ ratings }: { ratings: Ratings }) {
  const kinds = ['good', 'ok', 'bad'] as const
  const all = kinds.map((k) => `${count(ratings[k])} ${texts[k]}`).join(', ')
  return (
    <span class="rated" title={all}>
      <span class="hidden">{all}</span>
      <span aria-hidden="true">{share(helpful(ratings) ?? 0)}</span>
      <span class="quiet of" aria-hidden="true">
        {texts.rated(brief(rated(ratings)))}
      </span>
      <span class="rated-bar" aria-hidden="true">
        {kinds.map((k) => (
          <i key={k} class={k} style={{ flexGrow: ratings[k] }} />
        ))}
      </span>
    </span>
  )
}

/** empty reports whether a list has nothing to show. */
export const empty = (panel: Panel, rows: Row[]) =>
  rows.length === 0 || (panel.telling === true && rows.every((r) => r.key === null))
