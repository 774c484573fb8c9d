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
const { changed, duration, country, brief } = await import('../src/format')
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
const { about, after, keyOf } = await import('../src/page_queries')
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
// The pages after are found by the whole path of the page before.
const from = after({ ...usual, page: '/a.b' }, ['/a.b', '/c/']).after.where.at(-1) as { values: string[] }
const matches = (url: string) => new RegExp(from.values[0] ?? '').test(url)
for (const url of ['https://x/a.b', 'http://x:80/a.b/', 'https://x/c?q#f', 'https://x/c/#'])
  assert.ok(matches(url), url)
for (const url of ['https://x/a-b', 'https://x/a.b/c', 'https://x/d/a.b', 'https://x/?/a.b', 'https://x/cc'])
  assert.ok(!matches(url), url)
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
const { texts: words } = await import('../src/texts')
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
  for (const place of [{ hash: '#in=secret', search: '' }, { hash: '', search: '?code=c' }]) {
    Object.assign(location, place)
    globalThis.fetch = () =>
      status ? Promise.resolve(new Response('{}', { status })) : Promise.reject(new TypeError('no network'))
    assert.equal(await arrive(), want, `${status} ${JSON.stringify(place)}`)
  }
}
// Each value of a column that has few values has a name.
const { moreTexts } = await import('../src/more_texts')
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
