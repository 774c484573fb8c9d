// The table of a site's views that are not the overview: a row is a view.
import { moreTexts } from './more_texts'
import { panels } from './more_panels'
import { pageTotals, searchTotals } from './more_totals'
import { after, pageQueries } from './page_queries'
import { list } from './rows'
import { searchQueries } from './search_queries'
import { none, readers, type View } from './views'

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
  nothing: moreTexts.nobodyRead,
}

export const search: View = {
  queries: searchQueries,
  totals: searchTotals,
  title: () => moreTexts.searchGraph,
  metrics: false,
  lines: () => [
    { id: 'people', name: moreTexts.total.typed, query: 'typedSeries', column: 'eventsCount' },
    { id: 'agents', name: moreTexts.total.missed, query: 'missedSeries', column: 'eventsCount' },
  ],
  panels: panels('searched', 'searches', 'opened', 'questions', 'rated', 'searchPages'),
  empty: (r) => none(r, 'typed', 'eventsCount') && none(r, 'asked', 'eventsCount'),
  nothing: moreTexts.nobodySearched,
}
