// Queries about the ways in which a site's events arrive.
import type { State } from './address'
import type { Query } from './api'
import { ask, people } from './queries'

const agents = { ...people, operator: 'notIn' }

export function healthQueries(s: State): Record<string, Query> {
  const { query, list } = ask({ ...s, range: 'last24Hours', compare: 'none', filters: [] })
  /** last returns a query. For each way in which events arrive, its answer has the time of the last event. */
  const last = (who: typeof people): Query => ({
    ...query(['eventDoor', 'eventsCount', 'datetime'], [who]),
    range: 'last30Days',
    groupBy: [{ column: 'eventDoor' }],
  })
  return {
    doors: list('eventDoor', 'eventsCount', []),
    eventKeys: list('eventKey', 'eventsCount', []),
    types: list('eventType', 'eventsCount', []),
    lastPeople: last(people),
    lastAgents: last(agents),
  }
}
