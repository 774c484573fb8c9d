// Queries of the view explore: a metric by a column, and over time.
import type { State } from './address'
import type { Condition, Query, Results } from './api'
import { dimensions, kinds, metrics } from './columns'
import { chips, people } from './queries'

/** steps has the possible intervals of the graph. */
export const steps = ['hour', 'day', 'week', 'month'] as const

const known = (list: Record<string, string>, name: string, otherwise: string) =>
  Object.hasOwn(list, name) ? name : otherwise

/** chosen returns the reader's choices from the address. For an unknown column or metric, it returns the default. */
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

/** typed converts the values of filters from texts, as the address has them, to the types of their columns. */
const typed = (c: Condition): Condition =>
  'or' in c ? c : { ...c, values: c.values.map((value) => typedValue(kinds[c.column], value)) }

type Value = Extract<Condition, { column: string }>['values'][number]

function typedValue(kind: 'number' | 'boolean' | undefined, value: Value): Value {
  if (typeof value !== 'string' || !kind) return value
  if (kind === 'boolean') return value === 'true'
  return Number.isFinite(Number(value)) ? Number(value) : value
}

/** first is the number of rows that the table shows at first. most is the largest number of rows. */
export const first = 100
export const most = 1000

/**
 * sortOf returns the order of the rows. The API sorts by the metric. To sort by the difference from the compared range,
 * this page sorts the rows that it has loaded.
 */
export function sortOf(s: State) {
  const usual = '-of'
  return s.sort === 'of' || (s.sort.endsWith('difference') && s.compare !== 'none') ? s.sort : usual
}

/**
 * exploreQueries returns queries for at most `size` rows. If this page sorts the rows itself, it returns queries for
 * the largest possible number of rows.
 */
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

/** counts has the metrics that are 0 for a row without events. */
const counts = ['eventsCount', 'sessionsCount', 'visitorsCount', 'peopleCount']

/**
 * goneQuery returns a query for the rows of the compared range, if the rows are sorted by the difference. An answer has
 * only rows with events in the range, so a row that has lost all events is only in the compared range.
 */
export function goneQuery(s: State, results: Results): Record<string, Query> {
  const answer = results.table?.status === 200 ? results.table.answer : undefined
  const { table } = exploreQueries(s, most)
  if (!table || !answer?.compare || sortOf(s).endsWith('of') || !counts.includes(chosen(s).of)) return {}
  // If the answer does not have all rows, a row of the compared range can be among the others.
  if ((answer.rowsTotal ?? 0) > (answer.columns[0]?.values.length ?? 0)) return {}
  const { compare: _, ...query } = table
  return { gone: { ...query, range: answer.compare.range } }
}
