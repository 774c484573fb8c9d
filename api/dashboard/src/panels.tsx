// The table of the overview's lists: a row is a panel, with its query of the batch and how its rows read.
import type { State } from './address'
import { brief, country, count } from './format'
import type { QueryName } from './queries'
import { helpful, type Ratings, type Row } from './rows'
import { texts } from './texts'
import type { ComponentChildren } from 'preact'
import { share } from './format'

export type Panel = {
  id: Extract<QueryName, keyof typeof texts.panels>
  /** column is the filter that a click on a row adds. */
  column: string
  name: (key: string | null) => string
  /** size is the length of a row's bar. */
  size: (value: unknown) => number
  show: (value: unknown) => ComponentChildren
  unit: (s: State) => string
}

const number = (value: unknown) => (typeof value === 'number' ? value : 0)
const plain = (key: string | null) => key || texts.blank
const counted = { size: number, show: (value: unknown) => <span title={count(number(value))}>{brief(number(value))}</span> }
const visitors = (s: State) => (s.who === 'people' ? texts.units.people : texts.units.events)

export const panels: Panel[] = [
  {
    id: 'pages', column: 'urlPath', name: plain, ...counted,
    unit: (s) => (s.who === 'people' ? texts.units.views : s.who === 'agents' ? texts.units.reads : texts.units.events),
  },
  { id: 'sources', column: 'sourceName', name: (key) => key || texts.direct, ...counted, unit: visitors },
  {
    id: 'countries', column: 'visitorGeoCountry', ...counted, unit: visitors,
    name: (key) => (key ? country(key) : texts.unknownCountry),
  },
  { id: 'searches', column: 'eventSearchQuery', name: plain, ...counted, unit: () => texts.units.searches },
  {
    id: 'agents', column: 'agentOperator', name: (key) => key || texts.unknownAgent, ...counted,
    unit: () => texts.units.reads,
  },
  {
    id: 'feedback', column: 'urlPath', name: plain, size: () => 0,
    show: (value) => <Rated ratings={value as Ratings} />, unit: () => texts.units.worst,
  },
]

/** Rated shows how many of a page's ratings are of each kind. */
function Rated({ ratings }: { ratings: Ratings }) {
  const kinds = ['good', 'ok', 'bad'] as const
  const all = kinds.map((k) => `${count(ratings[k])} ${texts[k]}`).join(', ')
  return (
    <span class="rated" title={all}>
      <span class="hidden">{all}</span>
      <span aria-hidden="true">{share(helpful(ratings) ?? 0)}</span>
      <span class="rated-bar" aria-hidden="true">
        {kinds.map((k) => <i key={k} class={k} style={{ flexGrow: ratings[k] }} />)}
      </span>
    </span>
  )
}

/** empty reports whether a list has nothing to show. A single row of an unknown country says nothing. */
export const empty = (panel: Panel, rows: Row[]) =>
  rows.length === 0 || (panel.id === 'countries' && rows.every((r) => r.key === null))
