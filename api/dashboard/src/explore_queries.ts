// Queries of what the reader explores: a metric by a column, and over time.
import type { State } from './address'
import type { Condition, Query } from './api'
import { dimensions, kinds, metrics } from './columns'
import { chips, people } from './queries'

/** steps are the intervals of the graph. */
export const steps = ['hour', 'day', 'week', 'month'] as const

const known = (list: Record<string, string>, name: string, otherwise: string) =>
  Object.hasOwn(list, name) ? name : otherwise

/** chosen is what the address names, or what a new reader would have: an address can have any text. */
export const chosen = (s: State) => ({
  by: known(dimensions, s.by, 'urlPath'),
  of: known(metrics, s.of, 'eventsCount'),
  step: steps.find((step) => step === s.step),
})

const whose = {
  people: [people],
  agents: [{ ...people, operator: 'notIn' }],
  all: [],
}

/** typed gives the values of filters the types of their columns: an address has texts. */
const typed = (c: Condition): Condition =>
  'or' in c ? c : { ...c, values: c.values.map((value) => typedValue(kinds[c.column], value)) }

type Value = Extract<Condition, { column: string }>['values'][number]

function typedValue(kind: 'number' | 'boolean' | undefined, value: Value): Value {
  if (typeof value !== 'string' || !kind) return value
  if (kind === 'boolean') return value === 'true'
  return Number.isFinite(Number(value)) ? Number(value) : value
}

/** most is how many rows the table has. */
const most = 100

export function exploreQueries(s: State): Record<string, Query> {
  const { by, of, step } = chosen(s)
  const base = {
    range: s.range,
    timezone: s.zone,
    where: [...whose[s.who], ...chips(s.filters).map(typed)],
    ...(s.compare === 'none' ? {} : { compare: s.compare }),
  }
  const time = { column: 'datetime', interval: step ?? 'day' }
  return {
    table: {
      ...base,
      select: [{ column: by }, { column: of }],
      groupBy: [{ column: by }],
      order: { by: { column: of }, direction: 'desc' },
      limit: most,
      count: true,
    },
    all: { ...base, select: [{ column: of }] },
    ...(step && { over: { ...base, select: [time, { column: of }], groupBy: [time], fill: true } }),
  }
}
