// Queries about journeys of visitors: a funnel of steps, and returning visitors.
import type { Filter, State } from './address'
import type { FunnelQuery, RetentionQuery } from './api'
import { chips, intervalOf, sent } from './queries'

const event = (value: string): Filter => ({ column: 'eventType', not: false, value })

/** usual has the default steps of a funnel: a search, the opening of a result, and a rating. */
const usual = ['search_type_query', 'search_open_result', 'page_post_feedback'].map(event)

/** fewest and most are the limits of the API for the number of steps in a funnel. */
export const [fewest, most] = [2, 10]

export const stepsOf = (s: State) => (s.funnel.length < fewest ? usual : s.funnel.slice(0, most))

/** periods is the number of periods after the first period that the table of returning visitors shows. */
const periods = 8

/** cohortsOf returns the length of the periods in the table of returning visitors. */
export function cohortsOf(range: State['range']) {
  const interval = intervalOf(range)
  if (range === 'last30Days' || range === 'thisMonth' || interval === 'week') return 'week'
  return interval === 'month' ? 'month' : 'day'
}

export function journeyQueries(s: State): { funnel: FunnelQuery; retention: RetentionQuery } {
  const scope = { range: s.range, timezone: s.zone, where: [...sent[s.who], ...chips(s.filters)] }
  return {
    funnel: { report: 'funnel', ...scope, steps: stepsOf(s).map((step) => ({ where: chips([step]) })) },
    retention: { report: 'retention', ...scope, interval: cohortsOf(s.range), periods },
  }
}
