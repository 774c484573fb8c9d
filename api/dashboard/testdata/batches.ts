// Prints the batches that the page can ask, a line each: TestDashboardQueries (cmd/octavo) lets a node answer them.
Object.assign(globalThis, { location: { search: '', pathname: '/' }, addEventListener: () => {} })
Object.defineProperty(globalThis, 'navigator', { value: { languages: ['en'] }, configurable: true })

const { read, presets, comparisons, whos } = await import('../src/address')
const { queries, weekOf } = await import('../src/queries')

const state = { ...read(''), zone: 'Europe/Berlin' }
const columns = ['urlPath', 'sourceName', 'visitorGeoCountry', 'eventSearchQuery', 'agentOperator']
const filters = columns.flatMap((column) => [
  { column, not: true, value: 'x' }, { column, not: true, value: 'y' }, { column, not: true, value: '' },
])
const lasting = ['visitorGeoCountry', 'agentOperator'].map((column) => ({ column, not: false, value: null }))
const ranges = [
  ...presets, { from: '2026-01-01', to: '2026-01-01' }, { from: '2026-01-01', to: '2026-03-31' },
  { from: '2025-06-01', to: '2026-03-31' }, { from: '2024-01-01', to: '2026-03-31' },
]
const batches = [
  ...ranges.map((range) => queries({ ...state, range })),
  ...comparisons.map((compare) => queries({ ...state, compare })),
  ...whos.map((who) => queries({ ...state, who })),
  queries({ ...state, filters }), queries({ ...state, filters: lasting }), weekOf('Europe/Berlin'),
]
for (const batch of batches) console.log(JSON.stringify({ queries: batch }))
