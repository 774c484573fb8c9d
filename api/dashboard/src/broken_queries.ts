// Queries about broken addresses. A broken address has no page, although people or agents have requested it.
import type { State } from './address'
import type { Condition, Query } from './api'
import { ask, opened, type } from './queries'

const status: Condition = { column: 'httpStatus', values: [404, 410] }

/**
 * lost selects the requests of broken addresses: events with the status 404 or 410, and requests of pages that the
 * event's site space does not have. A query joins its conditions with AND. So each condition for the second case also
 * accepts the status 404 or 410.
 */
const lost: Condition[] = [
  { or: [status, type('page_view', 'page_markdown_request')] },
  { or: [status, { column: 'page', values: [{ page: null }] }] },
  { or: [status, { column: 'siteSpace', operator: 'notIn', values: [null] }] },
]

/** most is the largest number of addresses in the list. */
export const most = 20

/** addresses lists the broken addresses with the most requests, with the time of the last request. */
function addresses(s: State): Query {
  const { compare: _, ...list } = ask(s).list('urlPath', 'eventsCount', [...opened.all, ...lost])
  return {
    ...list,
    select: [...list.select, { column: 'datetime' }],
    order: { by: { column: 'eventsCount' }, direction: 'desc' },
    limit: most,
  }
}

export function brokenQueries(s: State) {
  const { query, list, series } = ask(s)
  const all = [...opened.all, ...lost]
  return {
    people: query(['eventsCount', 'peopleCount'], [...opened.people, ...lost]),
    reads: query(['eventsCount'], [...opened.agents, ...lost]),
    broken: query(['eventsCount'], all),
    everyone: query(['eventsCount'], opened.all),
    peopleSeries: series([...opened.people, ...lost]),
    agentSeries: series([...opened.agents, ...lost]),
    addresses: addresses(s),
    brokenFrom: list('referrer', 'eventsCount', [...all, { column: 'referrer', operator: 'notIn', values: [''] }]),
    brokenAgents: list('agentOperator', 'eventsCount', [...opened.agents, ...lost]),
    statuses: list('httpStatus', 'eventsCount', all),
  }
}

/** byPeople returns a query for the number of people's requests for some addresses. */
export function byPeople(s: State, paths: string[]) {
  const { compare: _, ...list } = ask(s, [{ column: 'urlPath', values: paths }]).list('urlPath', 'eventsCount', [
    ...opened.people,
    ...lost,
  ])
  return { byPeople: { ...list, limit: most } }
}
