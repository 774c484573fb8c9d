// The figures of a page before and after its last merge.
import { useEffect, useMemo } from 'preact/hooks'
import { state, type State } from './address'
import { batch, call, insights, type Query, type Results } from './api'
import { clock, duration } from './format'
import { ListCard } from './list_card'
import { Loader } from './load'
import { mergedQueries, mergedQuery, sides } from './merged_queries'
import { pageTotals } from './more_totals'
import { Delta } from './parts'
import { RowsTable, type Cell } from './rows_table'
import { texts } from './texts'
import { toolTexts } from './tool_texts'
import type { Total } from './totals'

type Merge = { at: string; text: string }
/** Loaded is null if no merge has changed the page, and undefined if the page is in no space. */
type Loaded = { merge: Merge; span: number; asked: Record<string, Query>; results: Results } | null | undefined

const t = toolTexts.merged

async function load(s: State, signal: AbortSignal): Promise<Loaded> {
  const pageId = s.page.startsWith('/') ? '' : s.page.split('/')[1]
  if (!pageId) return undefined
  const q = new URLSearchParams({ kind: 'merge', pageId, limit: '1' })
  const { items } = await call<{ items: Merge[] }>(`${insights(s.org, s.site)}/annotations?${q.toString()}`, { signal })
  const merge = items[0]
  const now = Date.now()
  if (!merge || Date.parse(merge.at) >= now) return null
  const asked = mergedQueries(s, merge.at, now)
  return { merge, span: sides(merge.at, now).span, asked, results: await batch(s.org, s.site, asked, signal) }
}

/**
 * Merged compares the totals of a page before and after its last merge. It loads them after the view's other figures.
 */
export function Merged() {
  const loader = useMemo(
    () =>
      new Loader<Loaded>(() => {
        const s = state.value
        return { key: [s.org, s.site, s.page].join(' '), load: (signal) => load(s, signal) }
      }),
    [],
  )
  useEffect(() => () => loader.end(), [loader])
  const { value, busy } = loader.now.value
  if (!value) return value === null ? <p class="quiet hint">{t.none}</p> : null
  const { merge, span, asked, results } = value
  const read = (total: Total, side: 'before' | 'after') => {
    const result = results[mergedQuery(side, total.query)]
    return result?.status === 200 ? total.read(result.answer, results).now : null
  }
  const written = (total: Total, n: number | null) => (n === null ? texts.none : total.write(n))
  const cells: [Cell<Total>, ...Cell<Total>[]] = [
    { id: 'total', label: t.figure, show: (total) => total.name },
    { id: 'before', label: t.before, number: true, show: (total) => written(total, read(total, 'before')) },
    { id: 'after', label: t.after, number: true, show: (total) => written(total, read(total, 'after')) },
    {
      id: 'change',
      label: t.change,
      number: true,
      show: (total) => <Delta now={read(total, 'after')} before={read(total, 'before')} write={total.write} />,
    },
  ]
  const days = span / 86_400_000
  return (
    <ListCard
      id="merged"
      title={t.title}
      about={t.about(merge.text, clock(merge.at), days >= 1 ? t.days(days.toFixed(1)) : duration(span / 1000))}
      query={asked[mergedQuery('after', 'people')]}
      result={results[mergedQuery('after', 'people')]}
      busy={busy}
      none={texts.none}
      rows={pageTotals.length}
    >
      <RowsTable cells={cells} rows={pageTotals} keyOf={(total) => total.id} />
    </ListCard>
  )
}
