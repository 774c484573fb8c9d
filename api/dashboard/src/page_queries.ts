// Queries about a single page, and the key that identifies the page in the address.
import type { State } from './address'
import type { Condition, PageRow, PagesQuery, StepsQuery } from './api'
import { ask, chips, external, opened, people, sent, type, visitors } from './queries'

/** keyOf returns the key that identifies a page in the address: space/id, or the path of a page outside of spaces. */
export const keyOf = (row: Pick<PageRow, 'space' | 'page' | 'path'>) =>
  row.page ? `${row.space}/${row.page}` : (row.path ?? '/')

/**
 * about selects the events of a page. If the key is a path, it selects this path with and without a slash at its end.
 */
export function about(key: string): Condition {
  if (key.startsWith('/')) return { column: 'urlPath', values: key === '/' ? ['/'] : [key, key + '/'] }
  const [space = '', page = ''] = key.split('/')
  return { column: 'page', values: [{ space, page }] }
}

export function pageQueries(s: State) {
  const here = about(s.page)
  const { query, list, series } = ask(s, [here])
  return {
    people: query(['peopleCount', 'engagedTime', 'meanScrollDepth', 'pageFeedbackRating'], [people]),
    views: query(['eventsCount'], opened.people),
    reads: query(['eventsCount'], opened.agents),
    peopleSeries: series(opened.people),
    agentSeries: series(opened.agents),
    sources: list('sourceName', visitors(s), [...opened[s.who], external]),
    pageSearches: list('eventSearchQuery', 'eventsCount', [...sent[s.who], type('search_type_query')]),
    links: list('eventLinkTargetDomain', 'eventsCount', [...sent[s.who], type('link_click')]),
    comments: list('eventPageFeedbackComment', 'eventsCount', [...sent[s.who], type('page_post_feedback_comment')]),
    agents: list('agentOperator', 'eventsCount', opened.agents),
    countries: list('visitorGeoCountry', visitors(s), opened[s.who]),
    addresses: list('urlPath', 'eventsCount', opened.all),
    page: known(s, here),
  }
}

/** known returns a query for the page's row in the list of pages. A page without events has no row. */
function known(s: State, here: Condition): PagesQuery {
  const [space = ''] = s.page.split('/')
  return {
    report: 'pages',
    range: s.range,
    timezone: s.zone,
    select: [{ column: 'eventsCount' }],
    where: [here],
    neverRead: false,
    limit: 1,
    ...(space && { spaces: [space] }),
  }
}

/** steps returns a query for the pages that people viewed before and after the page in the same session. */
function steps(s: State): StepsQuery {
  const [space = '', page = ''] = s.page.split('/')
  return {
    report: 'transitions',
    range: s.range,
    timezone: s.zone,
    page: s.page.startsWith('/') ? { path: s.page } : { space, page },
    where: [people, ...chips(s.filters)],
  }
}

/**
 * later returns the queries that are sent after the first figures have arrived. The query for the pages before and
 * after the page takes longer than the first queries. The query for the searches that led to the page needs the paths
 * of the page's addresses, which the first answers have.
 */
export function later(s: State, paths: string[]) {
  const quoted = paths.map((path) => path.replace(/\/$/, '').replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'))
  const end = '/?([?#].*)?$'
  const address = `^https?://[^/?#]+(${quoted.join('|')})${end}`
  const path = `^(${quoted.map((one) => one || '/').join('|')})${end}`
  // A sender of events identifies an opened search result by its address, by its path, or by the page of a space.
  const named: Condition = { column: 'eventSearchResultRecordId', operator: 'matches', values: [address, path] }
  const here = about(s.page)
  const ofSpace = 'column' in here && here.column === 'page'
  const led = ofSpace ? { or: [named, { ...here, column: 'eventSearchResultPage' }] } : named
  const { list } = ask(s)
  return {
    steps: steps(s),
    ...(paths.length && {
      ledHere: list('eventSearchQuery', 'eventsCount', [...sent[s.who], type('search_open_result'), led]),
    }),
  }
}
