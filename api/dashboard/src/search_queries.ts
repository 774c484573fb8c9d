// Queries about searches and questions to the assistant.
import type { State } from './address'
import type { Condition } from './api'
import { ask, sent, type } from './queries'

const nothing: Condition = { column: 'searchResults', values: [0] }

export function searchQueries(s: State) {
  const { query, list, worst, series } = ask(s)
  const of = (...types: string[]) => [...sent[s.who], type(...types)]
  const typed = of('search_type_query')
  return {
    typed: query(['eventsCount', 'peopleCount'], typed),
    missed: query(['eventsCount'], [...typed, nothing]),
    results: query(['eventsCount'], of('search_open_result')),
    asked: query(['eventsCount'], of('ask_question')),
    answers: query(['askResponseRating'], of('ask_rate_response')),
    typedSeries: series(typed),
    missedSeries: series([...typed, nothing]),
    searched: list('eventSearchQuery', 'eventsCount', typed),
    searches: list('eventSearchQuery', 'eventsCount', [...typed, nothing]),
    opened: list('eventSearchQuery', 'eventsCount', of('search_open_result')),
    questions: list('eventSearchQuery', 'eventsCount', of('ask_question')),
    rated: worst('eventSearchQuery', 'askResponseRating', of('ask_rate_response')),
    searchPages: list('urlPath', 'eventsCount', typed),
  }
}
