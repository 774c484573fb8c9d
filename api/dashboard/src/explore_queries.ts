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

/** first is how many rows the table has, and most how many it can have. */
export const first = 100
export const most = 1000

/**
 * sortOf is how the rows are sorted: by the metric, which the API does, or by its difference to the range before, which
 * this page does with the rows that it has.
 */
export function sortOf(s: State) {
  const usual = '-of'
  return s.sort === 'of' || (s.sort.endsWith('difference') && s.compare !== 'none') ? s.sort : usual
}

/** exploreQueries asks for at most size rows. Rows that this page sorts are as many as there can be. */
export function exploreQueries(s: State, size: number): Record<string, Query> {
  const { by, of, step } = chosen(s)
  const sort = sortOf(s)
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
      order: { by: { column: of }, direction: sort === 'of' ? 'asc' : 'desc' },
      limit: sort.endsWith('of') ? size : most,
      count: true,
    },
    all: { ...base, select: [{ column: of }] },
    ...(step && { over: { ...base, select: [time, { column: of }], groupBy: [time], fill: true } }),
  }
}
