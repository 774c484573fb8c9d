// Queries about addresses that people and agents asked for, and that lead nowhere.
import type { State } from './address'
import type { Condition, Query } from './api'
import { ask, opened, type } from './queries'

const status: Condition = { column: 'httpStatus', values: [404, 410] }

/**
 * lost chooses the events of addresses that lead nowhere: they were answered 404 or 410, or a page was asked for that
 * the site's space does not have. Each condition has a part of the second reason.
 */
const lost: Condition[] = [
  { or: [status, type('page_view', 'page_markdown_request')] },
  { or: [status, { column: 'page', values: [{ page: null }] }] },
  { or: [status, { column: 'siteSpace', operator: 'notIn', values: [null] }] },
]

/** most is how many addresses are listed. */
export const most = 20

/** addresses lists what was asked for most, with the time of the last request. */
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

/** byPeople asks how many of the requests for some addresses were people's. */
export function byPeople(s: State, paths: string[]) {
  const { compare: _, ...list } = ask(s, [{ column: 'urlPath', values: paths }]).list('urlPath', 'eventsCount', [
    ...opened.people,
    ...lost,
  ])
  return { byPeople: { ...list, limit: most } }
}
