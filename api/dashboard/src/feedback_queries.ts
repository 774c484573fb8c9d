// Queries about ratings and comments of pages.
import type { State } from './address'
import type { Query } from './api'
import { ask, sent, type } from './queries'

/** mostComments is the largest number of comments in the list. */
const mostComments = 20

export function feedbackQueries(s: State) {
  const { query, list, worst, series } = ask(s)
  const of = (...types: string[]) => [...sent[s.who], type(...types)]
  const ratings = of('page_post_feedback')
  const comments = of('page_post_feedback_comment')
  const rated = (...values: string[]) => [...ratings, { column: 'eventPageFeedbackRating', values }]
  const worstPages = worst('urlPath', 'pageFeedbackRating', ratings)
  return {
    ratings: query(['pageFeedbackRating', 'eventsCount', 'peopleCount'], ratings),
    bad: query(['eventsCount'], rated('bad')),
    written: query(['eventsCount'], comments),
    goodSeries: series(rated('good')),
    badSeries: series(rated('bad')),
    worstRated: worstPages,
    praised: { ...worstPages, order: { by: { column: 'pageFeedbackRating' }, direction: 'desc' as const } },
    ratedPages: list('urlPath', 'eventsCount', ratings),
    badPages: list('urlPath', 'eventsCount', rated('bad')),
    commentedPages: list('urlPath', 'eventsCount', comments),
    raterLanguages: list('visitorLanguage', 'eventsCount', ratings),
    inbox: inbox(s),
  }
}

/** inbox returns a query for the newest comments, with their pages. */
function inbox(s: State): Query {
  const columns = ['eventPageFeedbackComment', 'urlPath'].map((column) => ({ column }))
  const { compare: _, ...all } = ask(s).query([], [...sent[s.who], type('page_post_feedback_comment')])
  return {
    ...all,
    select: [...columns, { column: 'datetime' }, { column: 'eventsCount' }],
    groupBy: columns,
    order: { by: { column: 'datetime' }, direction: 'desc' },
    limit: mostComments,
    count: true,
  }
}
