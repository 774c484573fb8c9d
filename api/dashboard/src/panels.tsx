// The table of the overview's panels, and the type of a panel. A panel is a list. It has the name of its query in the
// batch, and the functions that format its rows.
import type { ComponentChildren } from 'preact'
import type { State } from './address'
import { brief, country, count, share } from './format'
import { helpful, rated, type Ratings, type Row } from './rows'
import { texts } from './texts'

export type Panel = {
  /** id is the id of the panel, and also the name of its query. */
  id: string
  title: string
  /** none is the text that the panel shows if there are no rows. */
  none: string
  /** about explains the rows. It is absent if the title is sufficient. */
  about?: string
  /** column is the column of the filter that a click on a row adds. label is the title of this column. */
  column: string
  label: string
  /** opens means that a row is a page, and that a click opens it. */
  opens?: true
  /** still means that rows cannot be clicked to add a filter. */
  still?: true
  /** telling means that the panel counts as empty if no row has a key. */
  telling?: true
  /** map means that the rows are countries, which the panel also shows on a map. */
  map?: true
  /** lessIsGood means that small numbers are good. */
  lessIsGood?: true
  name: (key: string | null) => string
  /** size returns the length of the bar that a row has for a value. */
  size: (value: unknown) => number
  show: (value: unknown) => ComponentChildren
  unit: (s: State) => string
}

/** Names has texts by the ids of panels: their titles, and their texts for the case that there are no rows. */
type Names<ID extends string> = {
  panels: Record<ID, string>
  empty: Record<ID, string>
  columns: Record<string, string>
}

/** table adds the titles and texts to panels. */
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
    unit: unit(texts.units.net),
  },
])

/** Rated shows the share of good ratings, and how many ratings of each kind there are. */
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

/** empty reports whether a panel has no rows to show. */
export const empty = (panel: Panel, rows: Row[]) =>
  rows.length === 0 || (panel.telling === true && rows.every((r) => r.key === null))
