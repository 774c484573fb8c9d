// The view explore. It shows any metric by any column as a table, and the metric over time as a graph. It also shows
// its request to the API.
import { useEffect } from 'preact/hooks'
import { signal } from '@preact/signals'
import { addFilter, go, state, type State } from './address'
import type { Query, Result, Results } from './api'
import { useQueries } from './asking'
import { dimensions, metrics } from './columns'
import { chosen, exploreQueries, first, goneQuery, most, sortOf, steps } from './explore_queries'
import { Status, useRangeKeys } from './figures'
import { Curve } from './curve'
import { count, signed } from './format'
import { ListCard } from './list_card'
import { allPanels } from './more_panels'
import { plain, Rated } from './panels'
import { Command, Delta, Trouble } from './parts'
import { asRatings, list, series, single, titles, type Answers, type Ratings } from './rows'
import { RowsTable, type Cell } from './rows_table'
import { curl } from './table'
import { texts } from './texts'
import { titlesIn } from './titles'
import { toolTexts } from './tool_texts'
import { Chips, Toolbar } from './toolbar'

const t = toolTexts.explore
/** size is the number of rows that the reader wants to see. */
const size = signal(first)

/** written formats any value of a metric. */
export function written(value: unknown): string {
  if (typeof value === 'number') return count(Math.round(100 * value) / 100)
  if (value === null || value === undefined) return texts.none
  if (typeof value !== 'object') return String(value)
  return Object.entries(value)
    .map(([name, n]) => `${name} ${written(n)}`)
    .join(', ')
}

/** measured shows a value of a metric. For ratings, it shows the share of each kind. */
function measured(value: unknown) {
  const kinds = Object.keys((typeof value === 'object' && value) || {})
  if (kinds.includes('good')) return <Rated ratings={value as Ratings} />
  if (kinds.includes('positive')) return <Rated ratings={asRatings(value as Answers)} />
  return written(value)
}

/** keyed formats any value of a column. */
export function keyed(column: string, key: unknown): string {
  if (typeof key === 'object' && key) return JSON.stringify(key)
  const name = allPanels.find((p) => p.column === column)?.name ?? plain
  return name(key === null ? null : String(key))
}

/** label returns the title of a column. */
const label = (column: string) => t.metrics[column] ?? allPanels.find((p) => p.column === column)?.label ?? column

export function Explore() {
  const loader = useQueries(
    (s) => exploreQueries(s, size.value),
    (s) => {
      const { by, of } = chosen(s)
      return [by, of]
    },
    (s, results) => ({ ...titlesIn(s, results), ...goneQuery(s, results) }),
  )
  useEffect(() => () => void (size.value = first), [])
  const s = state.value
  const now = loader.now.value
  useRangeKeys(() => loader.again())
  const { results, asked } = now.value ?? {}
  return (
    <main id="main" data-view="explore" aria-busy={now.busy} class={now.busy && results ? 'reloading' : ''}>
      <Toolbar />
      <Pick s={s} />
      <Chips panels={allPanels} />
      <Trouble load={now} again={() => loader.again()} />
      {results?.over && <Over s={s} result={results.over} />}
      <Table s={s} results={results} query={asked?.table} busy={now.busy} />
      {asked?.table && (
        <section class="card request" aria-labelledby="request-title">
          <h2 id="request-title">{t.request}</h2>
          <p class="quiet">{t.requestHint}</p>
          <Command text={curl(s.org, s.site, asked.table)} />
        </section>
      )}
      <Status results={results} busy={now.busy} again={() => loader.again()} />
    </main>
  )
}

/** Pick shows the fields with which the reader chooses a column, a metric, an interval, and a filter by any column. */
function Pick({ s }: { s: State }) {
  const { by, of, step } = chosen(s)
  const add = (event: SubmitEvent) => {
    event.preventDefault()
    const form = event.currentTarget as HTMLFormElement
    const data = new FormData(form)
    const value = String(data.get('value'))
    addFilter({
      column: String(data.get('column')),
      not: data.get('not') === 'not',
      value: value === '' ? null : value,
    })
    form.reset()
  }
  const options = (columns: string[]) =>
    columns.map((id) => (
      <option key={id} value={id}>
        {label(id)}
      </option>
    ))
  const grouped = Object.entries(t.groups).map(([group, columns]) => (
    <optgroup key={group} label={group}>
      {options(columns)}
    </optgroup>
  ))
  return (
    <section class="card pick" aria-label={t.pick}>
      <div>
        <label>
          <span>{t.metric}</span>
          <select value={of} onChange={(e) => go({ of: e.currentTarget.value })}>
            {options(Object.keys(metrics))}
          </select>
        </label>
        <label>
          <span>{t.by}</span>
          <select value={by} onChange={(e) => go({ by: e.currentTarget.value })}>
            {grouped}
          </select>
        </label>
        <label>
          <span>{t.step}</span>
          <select value={step ?? ''} onChange={(e) => go({ step: e.currentTarget.value })}>
            <option value="">{t.noStep}</option>
            {steps.map((id) => (
              <option key={id} value={id}>
                {t.steps[id]}
              </option>
            ))}
          </select>
        </label>
      </div>
      <p class="quiet">
        <span>
          <b>{label(of)}</b>: {metrics[of]}
        </span>{' '}
        <span>
          <b>{label(by)}</b>: {dimensions[by]}
        </span>
      </p>
      <form onSubmit={add}>
        <label>
          <span>{t.filter}</span>
          <select name="column">{grouped}</select>
        </label>
        <select name="not" aria-label={t.isOrNot}>
          <option value="is">{texts.is}</option>
          <option value="not">{texts.isNot}</option>
        </select>
        <input name="value" aria-label={t.value} placeholder={t.value} />
        <button type="submit">{t.add}</button>
      </form>
    </section>
  )
}

/** Over shows the metric over time. If the values of a metric are not numbers, it shows no graph. */
function Over({ s, result }: { s: State; result: Result }) {
  const { of, step } = chosen(s)
  const values = result.status === 200 ? (result.answer.columns[1]?.values ?? []) : []
  if (!step || values.some((v) => v !== null && typeof v !== 'number')) return <p class="quiet">{t.noGraph}</p>
  const sliding = typeof s.range === 'string' && s.range.startsWith('last')
  return (
    <Curve
      title={label(of)}
      lines={[{ id: 'people', name: label(of), points: series(result.answer, of) }]}
      interval={step}
      cut={{ first: sliding, last: typeof s.range === 'string' }}
    />
  )
}

type Shown = { key: unknown; value: unknown; before: unknown }

/** gone returns the rows of the compared range that have no events in the range. */
function gone(rows: Shown[], compared: Result | undefined): Shown[] {
  if (compared?.status !== 200) return []
  const here = new Set(rows.map((r) => JSON.stringify(r.key)))
  return list(compared.answer)
    .filter((r) => !here.has(JSON.stringify(r.key)))
    .map(({ key, value }) => ({ key, value: 0, before: value }))
}

/**
 * differenceOf returns the difference between the number of a row and its number in the compared range. If there was no
 * such number, it counts as 0.
 */
const differenceOf = ({ value, before }: Shown) =>
  typeof value === 'number' ? value - (typeof before === 'number' ? before : 0) : null

/**
 * sorted sorts rows by their differences, if the reader chose this order. The API has already sorted them by the
 * metric.
 */
function sorted(rows: Shown[], sort: string): Shown[] {
  if (sort.endsWith('of')) return rows
  const way = sort.startsWith('-') ? -1 : 1
  return [...rows].sort((a, b) => way * ((differenceOf(a) ?? 0) - (differenceOf(b) ?? 0)))
}

function Table({
  s,
  results,
  query,
  busy,
}: {
  s: State
  results: Results | undefined
  query: Query | undefined
  busy: boolean
}) {
  const { by, of } = chosen(s)
  const result = results?.table
  const sort = sortOf(s)
  const found = result?.status === 200 ? list(result.answer) : []
  const rows = sorted([...found, ...gone(found, results?.gone)], sort)
  const whole = results?.all?.status === 200 ? single<unknown>(results.all.answer, of) : undefined
  const n = (value: unknown) => (typeof value === 'number' ? value : null)
  const change = (now: unknown, before: unknown) => (
    <Delta now={n(now)} before={before === undefined ? undefined : n(before)} write={count} added />
  )
  const names = titles(results?.titles)
  const titleOf = (key: unknown) => {
    const [name, title] = [keyed(by, key), by === 'urlPath' && names.get(key as string | null)]
    return title && title !== name ? [title, <span class="quiet path"> {name}</span>] : name
  }
  const cells: [Cell<Shown>, ...Cell<Shown>[]] = [
    {
      id: 'by',
      label: label(by),
      show: ({ key }) =>
        key === null || typeof key !== 'object' ? (
          <button
            type="button"
            class="address"
            onClick={(event) => addFilter({ column: by, not: event.altKey, value: key === null ? null : String(key) })}
          >
            {titleOf(key)}
          </button>
        ) : (
          <span class="said">{keyed(by, key)}</span>
        ),
    },
    { id: 'of', label: label(of), number: true, sorts: true, show: ({ value }) => measured(value) },
    { id: 'before', label: t.before, number: true, show: ({ before }) => measured(before ?? null) },
    {
      id: 'difference',
      label: t.difference,
      number: true,
      sorts: true,
      show: (row) => {
        const by = differenceOf(row)
        return by === null ? texts.none : signed(Math.round(100 * by) / 100)
      },
    },
    { id: 'change', label: t.change, number: true, show: ({ value, before }) => change(value, before) },
  ]
  const all = result?.answer.rowsTotal ?? rows.length
  return (
    <ListCard
      id="table"
      title={t.title(label(of), label(by))}
      query={query}
      result={result}
      busy={busy}
      none={t.none}
      rows={rows.length}
    >
      {whole && (
        <p class="whole">
          {t.whole} <strong data-total="all">{written(whole.now)}</strong> {change(whole.now, whole.before)}
        </p>
      )}
      <RowsTable
        cells={s.compare === 'none' ? [cells[0], cells[1] as Cell<Shown>] : cells}
        rows={rows}
        keyOf={(r) => JSON.stringify(r.key)}
        sort={sort}
      />
      {all > rows.length && (
        <p class="quiet more">
          {texts.more(count(rows.length), count(all))}
          {rows.length < most && (
            <button type="button" class="small" onClick={() => (size.value = most)}>
              {t.more}
            </button>
          )}
        </p>
      )}
    </ListCard>
  )
}
