// The table of a site's views: a row is a view, with its queries, totals, graph and lists.
import type { State } from './address'
import type { PagesQuery, Query, Results } from './api'
import { list, single } from './rows'
import { after, pageQueries } from './page_queries'
import { panels, type Panel } from './panels'
import { queries } from './queries'
import { searchQueries } from './search_queries'
import { texts } from './texts'
import { overviewTotals, pageTotals, searchTotals, type Total } from './totals'

/** Drawn is a line of a view's graph. Its class is its colour. */
export type Drawn = { id: 'people' | 'agents'; name: string; query: string; column: 'eventsCount' | 'peopleCount' }

export type View = {
  queries: (s: State) => Record<string, Query | PagesQuery>
  /** then asks what follows from the answers. */
  then?: (s: State, results: Results) => Record<string, Query>
  totals: Total[]
  title: (s: State) => string
  lines: (s: State) => Drawn[]
  /** metrics says that the reader chooses what the graph counts. */
  metrics: boolean
  panels: Panel[]
  /** empty reports whether nothing happened, neither by people nor by agents. */
  empty: (results: Results) => boolean
  /** nothing says so. */
  nothing: (range: string) => string
}

const none = (results: Results, query: string, column: string) => {
  const result = results[query]
  return result?.status === 200 && !single<number>(result.answer, column).now
}

const readers: Pick<View, 'title' | 'lines' | 'metrics'> = {
  title: (s) => texts.graph[s.metric],
  lines: (s) => [
    {
      id: 'people',
      name: s.metric === 'people' ? texts.visitors : texts.views,
      query: 'peopleSeries',
      column: s.metric === 'people' ? 'peopleCount' : 'eventsCount',
    },
    { id: 'agents', name: texts.reads, query: 'agentSeries', column: 'eventsCount' },
  ],
  metrics: true,
}

export const overview: View = {
  ...readers,
  queries,
  totals: overviewTotals,
  panels: panels('pages', 'sources', 'countries', 'searches', 'agents', 'feedback'),
  empty: (r) =>
    none(r, 'people', 'peopleCount') &&
    none(r, 'people', 'sessionsCount') &&
    none(r, 'views', 'eventsCount') &&
    none(r, 'reads', 'eventsCount'),
  nothing: texts.nothing,
}

export const onePage: View = {
  ...readers,
  queries: pageQueries,
  totals: pageTotals,
  then: (s, results) => {
    const found = results.addresses
    const paths = found?.status === 200 ? list(found.answer).flatMap((row) => row.key || []) : []
    return paths.length ? after(s, paths) : {}
  },
  panels: panels('sources', 'before', 'after', 'pageSearches', 'links', 'comments', 'agents', 'countries', 'addresses'),
  empty: (r) => none(r, 'people', 'peopleCount') && none(r, 'views', 'eventsCount') && none(r, 'reads', 'eventsCount'),
  nothing: texts.nobodyRead,
}

export const search: View = {
  queries: searchQueries,
  totals: searchTotals,
  title: () => texts.searchGraph,
  metrics: false,
  lines: () => [
    { id: 'people', name: texts.total.typed, query: 'typedSeries', column: 'eventsCount' },
    { id: 'agents', name: texts.total.missed, query: 'missedSeries', column: 'eventsCount' },
  ],
  panels: panels('searched', 'searches', 'opened', 'questions', 'rated', 'searchPages'),
  empty: (r) => none(r, 'typed', 'eventsCount') && none(r, 'asked', 'eventsCount'),
  nothing: texts.nobodySearched,
}
