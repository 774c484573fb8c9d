// Queries about ratings and comments of pages.
import { signal } from '@preact/signals'
import type { State } from './address'
import type { Query } from './api'
import { ask, sent, type } from './queries'

/** firstComments is the number of comments that the list shows at first. mostComments is the largest number. */
export const firstComments = 20
export const mostComments = 1000
/** comments is the number of comments that the reader wants to see. */
export const comments = signal(firstComments)

export function feedbackQueries(s: State) {
  const { query, list, worst, series } = ask(s)
  const of = (...types: string[]) => [...sent[s.who], type(...types)]
  const ratings = of('page_post_feedback')
  const texts = of('page_post_feedback_comment')
  const rated = (...values: string[]) => [...ratings, { column: 'eventPageFeedbackRating', values }]
  const worstPages = worst('urlPath', 'pageFeedbackRating', ratings)
  return {
    ratings: query(['pageFeedbackRating', 'eventsCount', 'peopleCount'], ratings),
    bad: query(['eventsCount'], rated('bad')),
    written: query(['eventsCount'], texts),
    goodSeries: series(rated('good')),
    badSeries: series(rated('bad')),
    worstRated: worstPages,
    praised: { ...worstPages, order: { by: { column: 'pageFeedbackRating' }, direction: 'desc' as const } },
    ratedPages: list('urlPath', 'eventsCount', ratings),
    badPages: list('urlPath', 'eventsCount', rated('bad')),
    commentedPages: list('urlPath', 'eventsCount', texts),
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
    limit: comments.value,
    count: true,
  }
}
