// What can be checked without a browser. TestUnits runs it in Node.js.
import assert from 'node:assert/strict'

Object.assign(globalThis, {
  location: { search: '', pathname: '/' }, addEventListener: () => {}, history: { pushState: () => {} },
})
Object.defineProperty(globalThis, 'navigator', { value: { languages: ['de-AT', 'en-GB'] }, configurable: true })

const { read, write, presets, comparisons, whos, metrics } = await import('../src/address')
const { cell, curl, csv } = await import('../src/table')
const { ticks, some } = await import('../src/scale')
const { changed, duration, country, brief } = await import('../src/format')
const { queries, intervalOf } = await import('../src/queries')

// Each state comes back from its address, whatever texts visitors have sent.
const texts = ['', '/a', 'a,b', 'is,urlPath,x', 'ä &=?#%', '\r\n\t', '"<script>', '‮', '\ud83d\ude00', 'null']
for (const range of [...presets, { from: '2026-01-31', to: '2026-02-01' }]) {
  for (const compare of comparisons) for (const who of whos) for (const metric of metrics) {
    const filters = [...texts, null].flatMap((value) => [
      { column: 'urlPath', not: false, value }, { column: 'visitorGeoCountry', not: true, value },
    ])
    const state = { org: 'o', site: 's', range, compare, who, metric, filters, zone: 'Asia/Tokyo' }
    assert.deepEqual(read(write(state)), state)
  }
}
// An address can have any text: what is no state is left out.
const usual = read('')
for (const bad of ['range=ever', 'from=1&to=2', 'from=2026-02-02&to=2026-02-01', 'compare=x', 'zone=Mars/Base', 'f=', 'f=is', 'f=x,y,z', 'f=is,a b,c']) {
  assert.deepEqual(read('?' + bad), usual, bad)
}
assert.equal(write(usual), '/')

// No cell begins a formula, and a file has as many fields as columns.
for (const text of ['=1+1', '+1', '-1', '@a', '\t=1', '\r=1', '\n=1']) assert.match(cell(text), /^"?'/, JSON.stringify(text))
assert.equal(cell(-1), '-1')
assert.equal(cell('a"b,c'), '"a""b,c"')
assert.equal(cell(null), '')
const answer = {
  columns: [{ column: 'urlPath', values: ['/a', null] }, { column: 'eventsCount', values: [2, 1] }],
  compare: { columns: [{ column: 'urlPath', values: ['/a', null] }, { column: 'eventsCount', values: [0, 5] }] },
}
assert.equal(csv(answer), 'urlPath,eventsCount,urlPath before,eventsCount before\r\n/a,2,/a,0\r\n,1,,5\r\n')
const one = queries({ ...usual, org: 'o', site: 's', filters: [{ column: 'urlPath', not: false, value: `a'; rm -rf ~ '$(x)` }] })
assert.match(curl('o', 's', one.pages), /a'\\''; rm -rf ~ '\\''\$\(x\)/)

// Axes begin with 0, end at or above the most, and count whole things.
for (const most of [0, 1, 2, 3, 4, 5, 7, 9, 10, 11, 99, 100, 101, 12_345, 9_999_999]) {
  const list = ticks(most)
  assert.equal(list[0], 0)
  assert.ok((list.at(-1) ?? 0) >= most && list.length <= 7 && list.every(Number.isInteger), `${most}: ${list}`)
}
for (const [length, count] of [[1, 5], [7, 10], [31, 6], [0, 3], [24, 0]] as const) {
  const list = some(length, count)
  assert.ok(list.length <= Math.max(1, count) && list.every((i) => i < length), `${list}`)
}

assert.equal(changed(10, 0), undefined)
assert.equal(changed(1001, 1000), '±0%')
assert.equal(changed(15, 10), '+50%')
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
console.log('ok')
