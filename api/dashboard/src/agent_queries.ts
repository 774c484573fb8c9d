// Queries about agents: crawlers, assistants and tools.
import type { State } from './address'
import type { Condition } from './api'
import { ask, opened, sent, type } from './queries'

/**
 * kinds has lines of the graph. Each line has the classes of agents that read for the same purpose. The graph has one
 * more line for all other agents.
 */
export const kinds = { answering: ['user-asked', 'coding'], searching: ['search'], training: ['training'] }

/** gone selects requests for addresses that have no page. */
const gone: Condition = { column: 'httpStatus', values: [404, 410] }

export function agentQueries(s: State) {
  const { query, list, series } = ask(s)
  const reads = opened.agents
  const of = (classes: string[]) => series([...reads, { column: 'agentClass', values: classes }])
  const others: Condition = { column: 'agentClass', operator: 'notIn', values: Object.values(kinds).flat() }
  const sentByAI = [...opened.people, { column: 'channel', values: ['ai'] }]
  return {
    reads: query(['eventsCount'], reads),
    everyone: query(['eventsCount'], opened.all),
    gone: query(['eventsCount'], [...reads, gone]),
    sent: query(['peopleCount'], sentByAI),
    answeringSeries: of(kinds.answering),
    searchingSeries: of(kinds.searching),
    trainingSeries: of(kinds.training),
    othersSeries: series([...reads, others]),
    agents: list('agentOperator', 'eventsCount', reads),
    programs: list('visitorBot', 'eventsCount', reads),
    kinds: list('agentClass', 'eventsCount', reads),
    agentPages: list('urlPath', 'eventsCount', reads),
    missing: list('urlPath', 'eventsCount', [...reads, gone]),
    agentSearches: list('eventSearchQuery', 'eventsCount', [...sent.agents, type('search_type_query', 'ask_question')]),
    forms: list('contentForm', 'eventsCount', reads),
    verified: list('agentVerified', 'eventsCount', reads),
    sentBy: list('sourceName', 'peopleCount', sentByAI),
  }
}
