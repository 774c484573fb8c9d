// The overview of a site. One batch of queries fills it.
import { useEffect, useMemo, useState } from 'preact/hooks'
import { comparisons, go, metrics, next, state, whos, type State } from './address'
import { batch, type Query, type Results } from './api'
import { clock } from './format'
import { Graph, summary, type Line } from './graph'
import { useKeys } from './keys'
import { Loader } from './load'
import { Nothing } from './nothing'
import { PanelCard, Exactness } from './panel'
import { panels } from './panels'
import { Choice, Trouble } from './parts'
import { intervalOf, queries, type QueryName } from './queries'
import { series, single } from './rows'
import { texts } from './texts'
import { Chips, Toolbar } from './toolbar'
import { Totals } from './totals'

type Loaded = { results: Results; asked: Record<QueryName, Query> }

/** useOverview loads the figures again when the address asks for others. */
function useOverview() {
  const loader = useMemo(() => new Loader<Loaded>(() => {
    const s = state.value
    const asked = queries(s)
    return {
      key: s.org + ' ' + s.site,
      load: async (signal) => ({ asked, results: await batch(s.org, s.site, asked, signal) }),
    }
  }), [])
  useEffect(() => () => loader.end(), [])
  return loader
}

export function Overview() {
  const loader = useOverview()
  const load = loader.now.value
  const s = state.value
  const results = load.value?.results
  const asked = load.value?.asked ?? queries(s)
  useKeys({
    h: () => go({ range: 'last24Hours' }), w: () => go({ range: 'last7Days' }), m: () => go({ range: 'last30Days' }),
    d: () => go({ range: 'today' }),
    c: () => go({ compare: next(comparisons, state.peek().compare) }),
    p: () => go({ who: next(whos, state.peek().who) }), v: () => go({ metric: next(metrics, state.peek().metric) }),
    x: () => go({ filters: [] }), r: () => loader.again(),
  })
  return (
    <main id="main" aria-busy={load.busy} class={load.busy && results ? 'reloading' : ''}>
      <Toolbar />
      <Chips />
      <Trouble load={load} again={() => loader.again()} />
      {results && isEmpty(results) ? <Nothing /> : (
        <>
          <Partial results={results} />
          <Totals results={results} />
          <GraphCard s={s} results={results} />
          <div class="panels">
            {panels.map((p) => <PanelCard key={p.id} panel={p} query={asked[p.id]} result={results?.[p.id]} />)}
          </div>
          <p class="quiet hint">{texts.excludeHint}</p>
        </>
      )}
      <Status s={s} results={results} busy={load.busy} again={() => loader.again()} />
    </main>
  )
}

/** isEmpty reports whether nothing happened in the range, neither by people nor by agents. */
function isEmpty(results: Results): boolean {
  const none = (name: QueryName, column: string) =>
    results[name]?.status === 200 && !single<number>(results[name].answer, column).now
  return none('people', 'peopleCount') && none('people', 'sessionsCount') && none('views', 'eventsCount') && none('reads', 'eventsCount')
}

/** Partial says that some figures are missing. */
function Partial({ results }: { results: Results | undefined }) {
  const all = Object.values(results ?? {})
  const good = all.filter((r) => r.status === 200).length
  return (
    <div role="status" class="live">
      {good < all.length && (
        <p class="notice">
          <span>{texts.partial(good, all.length)}</span>
          <button type="button" onClick={() => go({ range: 'last24Hours' })}>{texts.shorter}</button>
        </p>
      )}
    </div>
  )
}

function GraphCard({ s, results }: { s: State; results: Results | undefined }) {
  const [table, tabulate] = useState(false)
  useKeys({ t: () => tabulate((shown) => !shown) })
  const column = s.metric === 'people' ? 'peopleCount' : 'eventsCount'
  const interval = intervalOf(s.range)
  const lines: Line[] = []
  const add = (id: Line['id'], name: string, query: QueryName, of: string) => {
    const result = results?.[query]
    if (result?.status === 200) lines.push({ id, name, points: series(result.answer, of) })
  }
  add('people', s.metric === 'people' ? texts.visitors : texts.views, 'peopleSeries', column)
  add('agents', texts.reads, 'agentSeries', 'eventsCount')
  const title = texts.graph[s.metric]
  const sliding = s.range === 'last24Hours' || s.range === 'last7Days' || s.range === 'last30Days'
  const cut = { first: sliding, last: typeof s.range === 'string' }
  return (
    <figure class="card graph-card" aria-labelledby="graph-title">
      <header>
        <h2 id="graph-title">{title}</h2>
        <Exactness result={results?.peopleSeries} />
        <ul class="legend" aria-hidden="true">
          {lines.map((l) => <li key={l.id}><span class={'key ' + l.id} />{l.name}</li>)}
          {s.compare !== 'none' && <li><span class="key before" />{texts.previous}</li>}
        </ul>
        <Choice label={texts.metric} value={s.metric} choose={(metric) => go({ metric })}
          options={metrics.map((id) => [id, texts.metrics[id]] as const)} />
        <button type="button" class="small" aria-pressed={table} onClick={() => tabulate(!table)} title="T">
          {texts.asTable}
        </button>
      </header>
      {lines.length > 0
        ? <Graph lines={lines} interval={interval} zone={s.zone} table={table} label={`${title}. ${texts.graphHint}`} cut={cut} />
        : <div class="graph waiting" />}
      <figcaption class="quiet">{lines.map((l) => summary(l, interval, s.zone, cut)).join(' ')}</figcaption>
    </figure>
  )
}

/** Status says how exact and how fresh the figures are, and in which zone their days are. */
function Status({ s, results, busy, again }: { s: State; results: Results | undefined; busy: boolean; again: () => void }) {
  const all = Object.values(results ?? {}).filter((r) => r.status === 200)
  const bounds = all.map((r) => r.headers['Octavo-Error-Bound']).filter((b) => b !== undefined)
  const worst = bounds.sort((a, b) => parseFloat(b) - parseFloat(a))[0]
  const fresh = all.map((r) => r.headers['Octavo-Fresh-Until']).filter((f) => f !== undefined).sort()[0]
  return (
    <footer class="status quiet">
      {all.length > 0 && <span class={worst ? 'mark-approximate' : 'mark-exact'}>{worst ? texts.approximate(worst) : texts.exact}</span>}
      <span>{fresh ? texts.fresh(clock(fresh, s.zone)) : texts.stale}</span>
      <span>{texts.zone(s.zone)}</span>
      <span role="status">{busy ? texts.loading : ''}</span>
      <button type="button" class="plain" onClick={again} title="R">{texts.refresh}</button>
    </footer>
  )
}
