// What can be checked without a browser. TestUnits runs it in Node.js.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'

Object.assign(globalThis, {
  location: { search: '', pathname: '/' },
  addEventListener: () => {},
  history: { pushState: () => {}, replaceState: () => {} },
})
Object.defineProperty(globalThis, 'navigator', { value: { languages: ['de-AT', 'en-GB'] }, configurable: true })

const { elsewhere, read, write, presets, comparisons, tabs, views, whos, metrics } = await import('../src/address')
const { cell, curl, csv, pagesCSV } = await import('../src/table')
const { ticks, some } = await import('../src/scale')
const { changed, duration, country, brief, share } = await import('../src/format')
const { queries, intervalOf } = await import('../src/queries')

// Each state comes back from its address, whatever texts visitors have sent.
const texts = ['', '/a', 'a,b', 'is,urlPath,x', 'ä &=?#%', '\r\n\t', '"<script>', '‮', '\ud83d\ude00', 'null']
for (const range of [...presets, { from: '2026-01-31', to: '2026-02-01' }]) {
  for (const compare of comparisons)
    for (const who of whos)
      for (const metric of metrics) {
        const filters = [...texts, null].flatMap((value) => [
          { column: 'urlPath', not: false, value },
          { column: 'visitorGeoCountry', not: true, value },
        ])
        const state = {
          ...elsewhere,
          org: 'o',
          site: 's',
          view: 'search' as const,
          range,
          compare,
          who,
          metric,
          filters,
          zone: 'Asia/Tokyo',
          by: 'visitorOS',
          of: 'peopleCount',
          step: 'week',
        }
        assert.deepEqual(read(write(state)), state)
      }
}
for (const view of views)
  for (const tab of tabs)
    for (const page of ['', '/', '/a b,?&#', 'space/page']) {
      for (const sort of ['', 'title', '-eventsCount']) {
        const state = { ...read('?org=o&site=s'), view, tab, page, sort }
        assert.deepEqual(read(write(state)), state)
      }
    }
// An address can have any text: what is no state is left out.
const usual = read('')
for (const bad of [
  'range=ever',
  'from=1&to=2',
  'from=2026-02-02&to=2026-02-01',
  'compare=x',
  'zone=Mars/Base',
  'f=',
  'view=x',
  'tab=x',
  'sort=a b',
  'sort=--a',
  'f=is',
  'f=x,y,z',
  'f=is,a b,c',
]) {
  assert.deepEqual(read('?' + bad), usual, bad)
}
assert.equal(write(usual), '/')

// No cell begins a formula, and a file has as many fields as columns.
for (const text of ['=1+1', '+1', '-1', '@a', '\t=1', '\r=1', '\n=1'])
  assert.match(cell(text), /^"?'/, JSON.stringify(text))
assert.equal(cell(-1), '-1')
assert.equal(cell('a"b,c'), '"a""b,c"')
assert.equal(cell(null), '')
const answer = {
  columns: [
    { column: 'urlPath', values: ['/a', null] },
    { column: 'eventsCount', values: [2, 1] },
  ],
  compare: {
    columns: [
      { column: 'urlPath', values: ['/a', null] },
      { column: 'eventsCount', values: [0, 5] },
    ],
  },
}
assert.equal(csv(answer), 'urlPath,eventsCount,urlPath before,eventsCount before\r\n/a,2,/a,0\r\n,1,,5\r\n')
const one = queries({
  ...usual,
  org: 'o',
  site: 's',
  filters: [{ column: 'urlPath', not: false, value: `a'; rm -rf ~ '$(x)` }],
})
const page = {
  kind: 'path',
  space: null,
  page: null,
  path: '=1',
  title: '@x',
  owner: { displayName: '+y' },
  editedAt: null,
  words: 3,
  metrics: { eventsCount: 2, pageFeedbackRating: { good: 1 } },
} as const
assert.equal(
  pagesCSV([page]),
  'kind,space,page,path,title,owner,editedAt,words,eventsCount,pageFeedbackRating\r\n' +
    `path,,,'=1,'@x,'+y,,3,2,"{""good"":1}"\r\n`,
)
assert.equal(pagesCSV([]), 'kind,space,page,path,title,owner,editedAt,words\r\n')
const { listQuery, listings } = await import('../src/list_queries')
const { about, later, keyOf } = await import('../src/page_queries')
for (const tab of tabs) {
  const s = { ...usual, org: 'o', site: 's', tab }
  const asked = listQuery(s, 50, Date.parse('2026-11-28T12:34:56Z'))
  assert.match(curl('o', 's', asked), /insights\/pages'/)
  assert.doesNotMatch(curl('o', 's', asked), /report/)
  assert.equal(asked.notEditedSince, tab === 'stale' ? '2026-06-01T00:00:00.000Z' : undefined)
  // The reader's order goes before the tab's.
  assert.deepEqual(asked.order?.by.column, listings[tab].sort.replace('-', ''))
  assert.deepEqual(listQuery({ ...s, sort: '-title' }, 50).order, { by: { column: 'title' }, direction: 'desc' })
}
// A page is the same with a slash at its end, and each row of the list leads to its own.
assert.deepEqual(about('/a'), { column: 'urlPath', values: ['/a', '/a/'] })
assert.deepEqual(about('/'), { column: 'urlPath', values: ['/'] })
assert.deepEqual(about('s/p'), { column: 'page', values: [{ space: 's', page: 'p' }] })
assert.equal(keyOf(page), '=1')
assert.equal(keyOf({ ...page, kind: 'removed', space: 's', page: 'p' }), 's/p')
// Each column has a name of its own, in one group of Explore, and a sentence of what it means.
const { dimensions, metrics: measures } = await import('../src/columns')
const { texts: words } = await import('../src/texts')
const { moreTexts } = await import('../src/more_texts')
const { toolTexts } = await import('../src/tool_texts')
const columns: Record<string, string> = { ...words.columns, ...moreTexts.columns }
for (const [names, meanings] of [
  [columns, dimensions],
  [toolTexts.explore.metrics, measures],
] as const) {
  assert.deepEqual(Object.keys(names).sort(), Object.keys(meanings).sort())
  assert.equal(new Set(Object.values(names)).size, Object.keys(names).length)
  for (const [id, name] of Object.entries(names)) assert.ok(name !== id && /^[A-Z].{2,}$/.test(name), `${id}: ${name}`)
  for (const [id, meaning] of Object.entries(meanings)) assert.match(meaning, /^[\s\S]{10,}\.$/, id)
}
const grouped = Object.values(toolTexts.explore.groups).flat()
assert.deepEqual(grouped.toSorted(), Object.keys(dimensions).sort())

// Searches that led to a page are found by the whole address or path of the result, and in spaces by the page too.
const ledTo = (page: string, paths: string[]) => later({ ...usual, page }, paths).ledHere?.where.at(-1)
const led = ledTo('/a.b', ['/a.b', '/c/']) as { values: string[] }
const matches = (url: string) => new RegExp(led.values[0] ?? '').test(url)
for (const url of ['https://x/a.b', 'http://x:80/a.b/', 'https://x/c?q#f', 'https://x/c/#'])
  assert.ok(matches(url), url)
for (const url of ['https://x/a-b', 'https://x/a.b/c', 'https://x/d/a.b', 'https://x/?/a.b', 'https://x/cc'])
  assert.ok(!matches(url), url)
const byResult = ledTo('/a.b', ['/a.b', '/c/', '/']) as { column: string; values: string[] }
const leads = (record: string) => byResult.values.some((pattern) => new RegExp(pattern).test(record))
for (const record of ['https://x/a.b#f', 'http://x:80/c', '/a.b', '/c/?q', '/', 'https://x', 'https://x/#f'])
  assert.ok(leads(record), record)
for (const record of ['', 'rec_1', 'a.b', '/a-b', '/a.b/c', 'https://x/d/a.b', '?q', '#f'])
  assert.ok(!leads(record), record)
assert.deepEqual(ledTo('s/p', ['/a.b', '/c/', '/']), {
  or: [byResult, { column: 'eventSearchResultPage', values: [{ space: 's', page: 'p' }] }],
})
assert.match(curl('o', 's', one.pages), /a'\\''; rm -rf ~ '\\''\$\(x\)/)

// Axes begin with 0, end at or above the most, and count whole things.
for (const most of [0, 1, 2, 3, 4, 5, 7, 9, 10, 11, 99, 100, 101, 12_345, 9_999_999]) {
  const list = ticks(most)
  assert.equal(list[0], 0)
  assert.ok((list.at(-1) ?? 0) >= most && list.length <= 7 && list.every(Number.isInteger), `${most}: ${list}`)
}
for (const [length, count] of [
  [1, 5],
  [7, 10],
  [31, 6],
  [0, 3],
  [24, 0],
] as const) {
  const list = some(length, count)
  assert.ok(list.length <= Math.max(1, count) && list.every((i) => i < length), `${list}`)
}

assert.equal(changed(10, 0), undefined)
assert.equal(changed(1001, 1000), '±0%')
assert.equal(changed(15, 10), '+50%')
assert.equal(changed(99, 10), '+890%')
assert.equal(changed(100, 10), '×10')
assert.equal(changed(14863, 1), '×' + brief(14863))
assert.equal(changed(5, 10), '−50%')
assert.equal(changed(5, undefined), undefined)
assert.equal(changed(null, 5), undefined)
assert.equal(changed(0.57, 0.56, share), '+1 point')
assert.equal(changed(0.5, 0.8, share), '−30 points')
assert.equal(changed(0.571, 0.569, share), '±0%')
assert.equal(duration(48.4), '48s')
assert.equal(duration(200), '3m 20s')
assert.equal(duration(120), '2m')
assert.equal(country('DE'), 'Germany')
assert.equal(country('no code'), 'no code')
assert.equal(brief(9_999), '9,999')
assert.equal(intervalOf({ from: '2026-01-01', to: '2026-01-02' }), 'hour')
assert.equal(intervalOf({ from: '2026-01-01', to: '2026-12-31' }), 'week')
// Filters of one column are one condition, and a page or another.
const both = queries({ ...usual, filters: ['/a', '/b'].map((value) => ({ column: 'urlPath', not: false, value })) })
assert.deepEqual(both.views.where.at(-1), { column: 'urlPath', operator: 'in', values: ['/a', '/b'] })
// A link that was used is told apart from a server that cannot answer now.
const { arrive } = await import('../src/session')
for (const [status, want] of [
  [200, undefined],
  [400, words.linkUsed],
  [401, words.linkUsed],
  [403, words.linkUsed],
  [429, words.failed(429)],
  [500, words.failed(500)],
  [503, words.failed(503)],
  [0, words.offline],
] as const) {
  for (const place of [
    { hash: '#in=secret', search: '' },
    { hash: '', search: '?code=c' },
  ]) {
    Object.assign(location, place)
    globalThis.fetch = () =>
      status ? Promise.resolve(new Response('{}', { status })) : Promise.reject(new TypeError('no network'))
    assert.equal(await arrive(), want, `${status} ${JSON.stringify(place)}`)
  }
}
// What the health of a site comes down to.
const { checks, days } = await import('../src/health_checks')
const balance = {
  since: '2026-11-28T12:00:00Z',
  roles: ['api', 'sink'],
  received: 10,
  accepted: 10,
  repeated: 0,
  refused: {},
  unreadRequests: {},
  refusedByDay: [],
  stored: 10,
  deadLettered: 0,
  inFlight: 0,
  lostMessages: 0,
}
// The days of refusals begin with the node's start, and are at most thirty.
const refusing = { ...balance, refusedByDay: [{ date: '2026-11-29', events: 3, requests: 1 }] }
assert.deepEqual(days(refusing, '2026-11-30T00:00:00Z'), [
  { date: '2026-11-28', events: 0, requests: 0 },
  { date: '2026-11-29', events: 3, requests: 1 },
  { date: '2026-11-30', events: 0, requests: 0 },
])
const lately = days(refusing, '2026-12-28T23:59:59Z')
assert.deepEqual(
  [lately.length, lately[0]?.date, lately[0]?.events, lately.at(-1)?.date],
  [30, '2026-11-29', 3, '2026-12-28'],
)
const healthy = { balance, lag: 2, silent: { people: 60, agents: 86_400 } }
assert.deepEqual(
  checks(healthy).flatMap((c) => (c.good && !c.hint ? [] : [c])),
  [],
)
for (const [known, ids] of [
  [{ ...healthy, lag: undefined }, 'lag'],
  [{ ...healthy, lag: 61 }, 'lag'],
  [{ ...healthy, silent: { people: null, agents: 1 } }, 'people'],
  [{ ...healthy, silent: { people: 90_000, agents: 1 } }, 'people'],
  [{ ...healthy, lag: 3600, balance: { ...balance, inFlight: 5 } }, 'lag flight'],
  [{ ...healthy, balance: { ...balance, refused: { too_long: 1 } } }, 'refused'],
  [{ ...healthy, balance: { ...balance, unreadRequests: { overloaded: 1 } } }, 'unread'],
  [{ ...healthy, balance: { ...balance, deadLettered: 1 } }, 'dead'],
  [{ ...healthy, balance: { ...balance, lostMessages: undefined } }, 'lost'],
  [{ ...healthy, balance: { ...balance, lostMessages: 3 } }, 'lost'],
  [{ ...healthy, balance: undefined }, ''],
  [{ ...healthy, balance: { ...balance, roles: ['api'], inFlight: 10 } }, ''],
] as const)
  assert.equal(
    checks(known as typeof healthy)
      .filter((c) => c.good === false)
      .map((c) => c.id)
      .join(' '),
    ids,
  )
assert.equal(checks({ ...healthy, silent: { people: 60, agents: null } })[2]?.good, undefined)
// A broken address may be one of a space: its path within, and its words.
const { within, words: wordsOf } = await import('../src/targets')
const spaces = [
  { id: 'a', title: '', path: '', default: true, space: { id: '1' } },
  { id: 'b', title: '', path: 'guides', default: false, space: { id: '2' } },
  { id: 'c', title: '', path: '/guides/fr/', default: false, space: { id: '3' } },
]
const inside = (path: string) => within(path, spaces).map((at) => at.space.id + ':' + at.path)
assert.deepEqual(inside('/guides/fr/a/b/'), ['c:a/b', 'b:fr/a/b', 'a:guides/fr/a/b'])
assert.deepEqual(inside('/guidesx/a'), ['a:guidesx/a'])
assert.deepEqual(inside('/guides'), ['a:guides'])
assert.deepEqual(inside('/'), [])
assert.equal(wordsOf('/v1/old_docs/install-on%20linux.html'), 'old docs install on linux')
assert.equal(wordsOf('/'), '')
// A page that had the path is proposed before a page with its end, and this before a page with its words. For a path
// that a page has now, nothing is proposed: a site shows the page, whatever redirect there is.
const { propose } = await import('../src/targets')
const hits = [
  { id: 'far', title: 'Far', path: 'x/errors' },
  { id: 'near', title: 'Near', path: 'slack/errors' },
]
let there: Record<string, unknown> = {}
globalThis.fetch = (input) => {
  const found = Object.entries(there).find(([at]) => String(input).includes(at))
  return Promise.resolve(
    new Response(JSON.stringify(found?.[1] ?? { error: { message: '' } }), { status: found ? 200 : 404 }),
  )
}
Object.assign(globalThis, { location: { ...location, href: 'http://127.0.0.1/' } })
const proposed = async (path: string) => {
  const proposal = await propose('o', 's', path, spaces)
  if ('here' in proposal) return 'here ' + proposal.here
  return 'leads' in proposal ? proposal.leads : proposal.target && proposal.target.page + ' ' + proposal.target.why
}
there = { '/search': { items: [{ id: '1', pages: hits }] } }
assert.equal(await proposed('/main/slack/errors/'), 'near end')
assert.equal(await proposed('/main/errors.html'), 'far search')
assert.equal(await proposed('/'), undefined)
there['/spaces/2/content/path/old'] = { id: 'p', title: 'P', path: 'new' }
assert.equal(await proposed('/guides/old'), 'p former')
there['/spaces/2/content/path/old'] = { id: 'p', title: 'P', path: 'old' }
assert.equal(await proposed('/guides/old'), 'here P')
there['/redirect?source=%2Fguides%2Fold'] = { target: '/there' }
assert.equal(await proposed('/guides/old'), '/there')
// Both sides of a merge are as long as the time since, and at most a week.
const { sides } = await import('../src/merged_queries')
assert.deepEqual(sides('2026-11-20T00:00:00Z', Date.parse('2026-11-22T00:00:00Z')), {
  span: 2 * 86_400_000,
  before: { from: '2026-11-18T00:00:00.000Z', to: '2026-11-20T00:00:00.000Z' },
  after: { from: '2026-11-20T00:00:00.000Z', to: '2026-11-22T00:00:00.000Z' },
})
assert.equal(sides('2026-11-20T00:00:00Z', Date.parse('2027-01-01T00:00:00Z')).after.to, '2026-11-27T00:00:00.000Z')
// A form sends what was filled in.
const { body, keeps } = await import('../src/settings_tables')
const form = new FormData()
for (const [name, value] of [
  ['name', ' Pages '],
  ['hosts', 'a.example.com, *.b.example.com\nc.example.com,'],
  ['expiresIn', '7'],
  ['password', ''],
] as const)
  form.set(name, value)
const fieldsOf = (id: string) => keeps.find((k) => k.id === id)?.fields ?? []
assert.deepEqual(body(fieldsOf('keys'), form), {
  name: 'Pages',
  hosts: ['a.example.com', '*.b.example.com', 'c.example.com'],
})
assert.deepEqual(body(fieldsOf('share-links'), form), { name: 'Pages', expiresIn: 604_800 })
// What is explored is of the columns that there are, whatever an address says.
const { chosen } = await import('../src/explore_queries')
const explored = (query: string) => Object.values(chosen(read(query)))
assert.deepEqual(explored(''), ['urlPath', 'eventsCount', undefined])
assert.deepEqual(explored('by=toString&of=constructor&step=year'), ['urlPath', 'eventsCount', undefined])
assert.deepEqual(explored('by=visitorOS&of=bounceRate&step=week'), ['visitorOS', 'bounceRate', 'week'])

// Each value of a column that has few values has a name.
const named = new Set<string>()
for (const line of readFileSync('../../schema/insights/COLUMNS.md', 'utf8').split('\n')) {
  const [, column = '', , values = ''] = line.split('|').map((cell) => cell.trim().replaceAll('`', ''))
  const names = moreTexts.values[column]
  if (!names) continue
  const few = values
    .replace(/^one of | or null$/g, '')
    .split(', ')
    .map((value) => value.replace('""', ''))
  assert.deepEqual(Object.keys(names).sort(), few.sort(), column)
  named.add(column)
}
assert.deepEqual([...named].sort(), Object.keys(moreTexts.values).sort())
console.log('ok')
