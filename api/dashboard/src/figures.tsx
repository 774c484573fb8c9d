// The figures of a view: totals, a graph and lists. The view gets all of them with a batch of queries.
import type { ComponentChildren } from 'preact'
import { comparisons, go, metrics, next, state, whos, zone } from './address'
import type { AnyQuery, Query, Results } from './api'
import { useQueries } from './asking'
import { clock } from './format'
import { GraphCard } from './graph_card'
import { useKeys } from './keys'
import { Nothing } from './nothing'
import { PanelCard } from './panel'
import { Trouble } from './parts'
import { pass } from './share'
import { texts } from './texts'
import { Chips, Toolbar } from './toolbar'
import { Totals } from './totals'
import type { View } from './views'

/** useRangeKeys registers the keyboard shortcuts that all views of a site have. */
export function useRangeKeys(again: () => void, whose = true) {
  useKeys({
    h: () => go({ range: 'last24Hours' }),
    w: () => go({ range: 'last7Days' }),
    m: () => go({ range: 'last30Days' }),
    d: () => go({ range: 'today' }),
    c: () => !pass.value?.ranges.length && go({ compare: next(comparisons, state.peek().compare) }),
    p: () => whose && go({ who: next(whos, state.peek().who) }),
    v: () => go({ metric: next(metrics, state.peek().metric) }),
    x: () => go({ filters: [] }),
    r: again,
  })
}

export function Figures({ view, head }: { view: View; head?: (results: Results | undefined) => ComponentChildren }) {
  const loader = useQueries<AnyQuery>(view.queries, (s) => [s.view, s.page], view.then)
  const load = loader.now.value
  const s = state.value
  const results = load.value?.results
  const asked = (load.value?.asked ?? {}) as Record<string, Query>
  const Body = view.body
  useRangeKeys(() => loader.again(), view.whose)
  return (
    <main id="main" data-view={s.view} aria-busy={load.busy} class={load.busy && results ? 'reloading' : ''}>
      <Toolbar whose={view.whose} />
      <Chips panels={view.panels} />
      {head?.(results)}
      <Trouble load={load} again={() => loader.again()} />
      {results && view.empty(results) ? (
        <Nothing says={view.nothing} hint={view.hint} setUp={s.view === 'overview' && !pass.value} />
      ) : (
        <>
          <Partial results={results} />
          <Totals totals={view.totals} results={results} />
          <GraphCard view={view} s={s} results={results} />
          {Body && <Body s={s} results={results} asked={asked} busy={load.busy} />}
          <div class="panels">
            {view.panels.map((p) => (
              <PanelCard
                key={p.id}
                panel={p}
                query={asked[p.id]}
                result={results?.[p.id]}
                names={p.column === 'urlPath' ? results?.titles : undefined}
                busy={load.busy}
              />
            ))}
          </div>
          <p class="quiet hint">{texts.excludeHint}</p>
        </>
      )}
      <Status results={results} busy={load.busy} again={() => loader.again()} />
    </main>
  )
}

/** Partial is the message that some queries of the view have failed, so that figures are missing. */
function Partial({ results }: { results: Results | undefined }) {
  const all = Object.values(results ?? {})
  const good = all.filter((r) => r.status === 200).length
  return (
    <div role="status" class="live">
      {good < all.length && (
        <p class="notice">
          <span>{texts.partial(good, all.length)}</span>
          <button type="button" onClick={() => go({ range: 'last24Hours' })}>
            {texts.shorter}
          </button>
        </p>
      )}
    </div>
  )
}

/** Status shows the accuracy and the age of the figures, and the zone of their days. */
export function Status({ results, busy, again }: { results: Results | undefined; busy: boolean; again: () => void }) {
  const all = Object.values(results ?? {}).filter((r) => r.status === 200)
  const bounds = all.map((r) => r.headers['Octavo-Error-Bound']).filter((b) => b !== undefined)
  const worst = bounds.sort((a, b) => parseFloat(b) - parseFloat(a))[0]
  const fresh = all
    .map((r) => r.headers['Octavo-Fresh-Until'])
    .filter((f) => f !== undefined)
    .sort()[0]
  const [from, to] = all.find((r) => r.headers['Octavo-Range'])?.headers['Octavo-Range']?.split('/') ?? []
  return (
    <footer class="status quiet">
      {all.length > 0 && !busy && (
        <span class={worst ? 'mark-approximate' : 'mark-exact'}>{worst ? texts.approximate(worst) : texts.exact}</span>
      )}
      <span>{fresh ? texts.fresh(clock(fresh)) : texts.stale}</span>
      {from && to && <span>{texts.cut(clock(from), clock(to))}</span>}
      <span>{zone() && texts.zone(zone())}</span>
      <span role="status">{busy ? texts.loading : ''}</span>
      <button type="button" class="plain" onClick={again} title="R">
        {texts.refresh}
      </button>
    </footer>
  )
}
