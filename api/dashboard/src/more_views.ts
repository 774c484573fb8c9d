// The table of a site's views that consist of totals, a graph and lists, except the overview.
import { agentQueries } from './agent_queries'
import { audienceQueries } from './audience_queries'
import { Broken } from './broken'
import { brokenQueries, byPeople } from './broken_queries'
import { feedbackQueries } from './feedback_queries'
import { Inbox } from './inbox'
import { linkQueries } from './link_queries'
import { moreTexts } from './more_texts'
import { panels } from './more_panels'
import { agentTotals, audienceTotals, brokenTotals, feedbackTotals } from './more_totals'
import { linkTotals, openapiTotals, pageTotals, searchTotals } from './more_totals'
import { openapiQueries } from './openapi_queries'
import { PageBody } from './page_body'
import { later, pageQueries } from './page_queries'
import { list } from './rows'
import { searchQueries } from './search_queries'
import { texts } from './texts'
import { titled } from './titles'
import { none, readers, type View } from './views'

export const onePage: View = {
  ...readers,
  queries: pageQueries,
  totals: pageTotals,
  then: (s, results) => {
    const found = results.addresses
    const paths = found?.status === 200 ? list(found.answer).flatMap((row) => row.key || []) : []
    return later(s, paths)
  },
  whose: true,
  body: PageBody,
  panels: panels(
    ...(['sources', 'ledHere', 'pageSearches', 'links'] as const),
    ...(['comments', 'agents', 'countries', 'addresses'] as const),
  ),
  empty: (r) => none(r, 'people', 'peopleCount') && none(r, 'views', 'eventsCount') && none(r, 'reads', 'eventsCount'),
  nothing: moreTexts.nobodyRead,
}

export const search = titled({
  queries: searchQueries,
  totals: searchTotals,
  title: () => moreTexts.searchGraph,
  metrics: false,
  lines: () => [
    { id: 'people', name: moreTexts.total.typed, query: 'typedSeries', column: 'eventsCount' },
    { id: 'agents', name: moreTexts.total.missed, query: 'missedSeries', column: 'eventsCount' },
  ],
  whose: true,
  panels: panels('searched', 'searches', 'opened', 'questions', 'rated', 'searchPages'),
  empty: (r) => none(r, 'typed', 'eventsCount') && none(r, 'asked', 'eventsCount'),
  nothing: moreTexts.nobodySearched,
})

export const agents = titled({
  queries: agentQueries,
  totals: agentTotals,
  title: () => moreTexts.agentGraph,
  metrics: false,
  lines: () =>
    (['answering', 'searching', 'training', 'others'] as const).map((id) => ({
      id,
      name: moreTexts.lines[id],
      query: id + 'Series',
      column: 'eventsCount',
    })),
  whose: false,
  panels: panels(
    ...(['agents', 'programs', 'kinds', 'agentPages', 'missing', 'agentSearches'] as const),
    ...(['forms', 'verified', 'sentBy'] as const),
  ),
  empty: (r) => none(r, 'reads', 'eventsCount') && none(r, 'sent', 'peopleCount'),
  nothing: moreTexts.noAgents,
  hint: moreTexts.agentsHint,
})

export const broken: View = {
  queries: brokenQueries,
  totals: brokenTotals,
  then: (s, results) => {
    const found = results.addresses
    const paths = found?.status === 200 ? list(found.answer).flatMap((row) => row.key ?? []) : []
    return paths.length ? byPeople(s, paths) : {}
  },
  title: () => moreTexts.brokenGraph,
  metrics: false,
  lines: (s) => readers.lines({ ...s, metric: 'views' }).map((l) => ({ ...l, name: texts.whos[l.id as 'people'] })),
  whose: false,
  body: Broken,
  panels: panels('brokenFrom', 'brokenAgents', 'statuses'),
  empty: (r) => none(r, 'broken', 'eventsCount'),
  nothing: moreTexts.nothingBroken,
  hint: moreTexts.brokenHint,
}

export const feedback = titled({
  queries: feedbackQueries,
  totals: feedbackTotals,
  title: () => moreTexts.feedbackGraph,
  metrics: false,
  lines: () => [
    { id: 'good', name: texts.good, query: 'goodSeries', column: 'eventsCount' },
    { id: 'bad', name: texts.bad, query: 'badSeries', column: 'eventsCount' },
  ],
  whose: true,
  body: Inbox,
  panels: panels(...(['worstRated', 'praised', 'badPages', 'ratedPages', 'commentedPages', 'raterLanguages'] as const)),
  empty: (r) => none(r, 'ratings', 'eventsCount') && none(r, 'written', 'eventsCount'),
  nothing: moreTexts.noFeedback,
})

export const links = titled({
  queries: linkQueries,
  totals: linkTotals,
  title: () => moreTexts.linkGraph,
  metrics: false,
  lines: () => [
    { id: 'people', name: moreTexts.total.away, query: 'awaySeries', column: 'eventsCount' },
    { id: 'training', name: moreTexts.total.inside, query: 'insideSeries', column: 'eventsCount' },
  ],
  whose: true,
  panels: panels(...(['domains', 'targets', 'linkPages', 'positions', 'targetKinds', 'downloadPages'] as const)),
  empty: (r) => none(r, 'clicks', 'eventsCount') && none(r, 'downloads', 'eventsCount'),
  nothing: moreTexts.noLinks,
})

export const openapi = titled({
  queries: openapiQueries,
  totals: openapiTotals,
  title: () => moreTexts.openapiGraph,
  metrics: false,
  lines: () => [
    { id: 'people', name: moreTexts.total.looks, query: 'looksSeries', column: 'eventsCount' },
    { id: 'training', name: moreTexts.total.tries, query: 'triesSeries', column: 'eventsCount' },
  ],
  whose: true,
  panels: panels(
    ...(['operations', 'tried', 'methods'] as const),
    ...(['operationPages', 'operationLanguages', 'operationCountries'] as const),
  ),
  empty: (r) => none(r, 'looks', 'eventsCount') && none(r, 'tries', 'eventsCount'),
  nothing: moreTexts.noOperations,
  hint: moreTexts.openapiHint,
})

export const audience = titled({
  queries: audienceQueries,
  totals: audienceTotals,
  title: (s) => moreTexts.audienceGraph[s.metric],
  metrics: true,
  lines: (s) => readers.lines(s).slice(0, 1),
  whose: true,
  panels: panels(
    ...(['channels', 'sources', 'referrers', 'landing', 'campaigns', 'mediums'] as const),
    ...(['countries', 'languages', 'devices', 'browsers', 'systems', 'contexts'] as const),
  ),
  empty: (r) => none(r, 'people', 'peopleCount') && none(r, 'views', 'eventsCount'),
  nothing: moreTexts.noPeople,
})
