import type { PageRow, PagesQuery, Query } from '../src/api'

// Prints the batches that the page can ask, a line each: TestDashboardQueries (cmd/octavo) lets a node answer them.
Object.assign(globalThis, { location: { search: '', pathname: '/' }, addEventListener: () => {} })
Object.defineProperty(globalThis, 'navigator', { value: { languages: ['en'] }, configurable: true })

const { read, presets, comparisons, tabs, whos } = await import('../src/address')
const { queries, weekOf } = await import('../src/queries')
const { later, pageQueries } = await import('../src/page_queries')
const { titlesOf } = await import('../src/titles')
const { searchQueries } = await import('../src/search_queries')
const { agentQueries } = await import('../src/agent_queries')
const { audienceQueries } = await import('../src/audience_queries')
const { brokenQueries, byPeople } = await import('../src/broken_queries')
const { feedbackQueries } = await import('../src/feedback_queries')
const { linkQueries } = await import('../src/link_queries')
const { exploreQueries, steps } = await import('../src/explore_queries')
const { dimensions, metrics } = await import('../src/columns')
const { mergedQueries } = await import('../src/merged_queries')
const { healthQueries } = await import('../src/health_queries')
const { listQuery, readBy } = await import('../src/list_queries')

const state = { ...read(''), zone: 'Europe/Berlin' }
const columns = ['urlPath', 'sourceName', 'visitorGeoCountry', 'eventSearchQuery', 'agentOperator']
const filters = columns.flatMap((column) => [
  { column, not: true, value: 'x' },
  { column, not: true, value: 'y' },
  { column, not: true, value: '' },
])
const lasting = ['visitorGeoCountry', 'agentOperator'].map((column) => ({ column, not: false, value: null }))
const ranges = [
  ...presets,
  { from: '2026-01-01', to: '2026-01-01' },
  { from: '2026-01-01', to: '2026-03-31' },
  { from: '2025-06-01', to: '2026-03-31' },
  { from: '2024-01-01', to: '2026-03-31' },
]
// A range or comparison changes the times of every query in the same way. Only graphs also get another interval.
const graphs = (s: typeof state) => {
  const { people, peopleSeries, agentSeries } = queries(s)
  return { people, peopleSeries, agentSeries }
}
const batches: Record<string, Query | PagesQuery>[] = [
  queries(state),
  queries({ ...state, compare: 'none' }),
  ...ranges.map((range) => graphs({ ...state, range })),
  ...comparisons.map((compare) => graphs({ ...state, compare })),
  ...whos.map((who) => queries({ ...state, who })),
  queries({ ...state, filters }),
  queries({ ...state, filters: lasting }),
  weekOf('Europe/Berlin'),
  { titles: titlesOf(state, [{ column: 'urlPath', values: ['/', '/gone'] }]) },
]
const more = [
  { column: 'referrer', not: true, value: 'x' },
  { column: 'eventPageFeedbackComment', not: true, value: 'x' },
  { column: 'eventLinkTargetDomain', not: true, value: null },
]
const few = Object.entries({
  visitorBot: ['gptbot', ''],
  agentClass: ['search', null],
  contentForm: ['llms', null],
  agentVerified: ['claimed', null],
  channel: ['ai'],
  referrerDomain: ['x.example.com', ''],
  utmCampaign: ['x', ''],
  utmMedium: ['x', ''],
  visitorLanguage: ['de-AT', null],
  visitorDevice: ['mobile'],
  visitorBrowser: ['chrome'],
  visitorOS: ['ios'],
  displayContext: ['site'],
}).flatMap(([column, values]) => values.map((value) => ({ column, not: value !== null, value })))
const rows = [
  { kind: 'current', space: 'space', page: 'page', path: 'a/b' },
  { kind: 'path', space: null, page: null, path: '/a' },
].map((row) => ({ ...row, title: null, owner: null, editedAt: null, words: null, metrics: {} }) as PageRow)
for (const page of ['/', '/a', '/a(b)+', 'space/page']) {
  const s = { ...state, page }
  batches.push(pageQueries(s), later(s, ['/', '/a/', '/a.(b)+?[c]{1}|^$\\']))
}
// The filters add conditions that do not depend on the page, so one page of each kind has all filters.
for (const page of ['/a(b)+', 'space/page'])
  batches.push(pageQueries({ ...state, page, filters: [...filters, ...more] }))
for (const who of whos) {
  const s = { ...state, who }
  batches.push(searchQueries(s), agentQueries(s), audienceQueries(s))
  batches.push(brokenQueries(s), byPeople(s, ['/gone', '/']), feedbackQueries(s), linkQueries(s))
  batches.push({ people: readBy({ ...s, filters }, rows) })
  for (const tab of tabs) batches.push({ list: listQuery({ ...s, tab }, 50) })
}
// These filters do not depend on the visitors either.
batches.push(agentQueries({ ...state, filters: few }), audienceQueries({ ...state, filters: few }))
// Each tab has each order, and each group of visitors with some order.
const orders = tabs.flatMap((tab) => ['title', '-editedAt', 'words', '-eventsCount'].map((sort) => ({ tab, sort })))
for (const [n, order] of orders.entries())
  batches.push({ list: listQuery({ ...state, ...order, who: whos[n % whos.length]! }, 1000) })
batches.push(healthQueries(state))
batches.push(
  mergedQueries({ ...state, page: 'space/page' }, '2026-11-20T10:00:00.123Z', Date.parse('2026-11-24T00:00:00Z')),
)
// Each column can be explored, and each metric. The intervals take turns.
const range = 'last7Days' as const
for (const by of Object.keys(dimensions)) batches.push(exploreQueries({ ...state, range, by }))
for (const [n, of] of Object.keys(metrics).entries())
  batches.push(exploreQueries({ ...state, range, of, step: steps[n % steps.length] }))
const valued = { httpStatus: '404', visitorAuthenticated: 'true', dayOfWeek: '1', eventAskResponseRating: '-1' }
const exact = Object.entries(valued).map(([column, value]) => ({ column, not: false, value }))
batches.push(exploreQueries({ ...state, filters: exact }))
for (const batch of batches) console.log(JSON.stringify({ queries: batch }))
