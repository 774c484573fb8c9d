// The graph of a view, with its heading, its choices, and the annotations of its range.
import { useState } from 'preact/hooks'
import { go, metrics, type State } from './address'
import type { Results } from './api'
import { Annotations, useAnnotations } from './annotations'
import { Graph, summary, twice, type Line } from './graph'
import { useKeys } from './keys'
import { Exactness } from './panel'
import { Choice } from './parts'
import { intervalOf } from './queries'
import { series } from './rows'
import { texts } from './texts'
import type { View } from './views'

export function GraphCard({ view, s, results }: { view: View; s: State; results: Results | undefined }) {
  const [table, tabulate] = useState(false)
  useKeys({ t: () => tabulate((shown) => !shown) })
  const interval = intervalOf(s.range)
  const lines = view.lines(s).flatMap((l): Line[] => {
    const result = results?.[l.query]
    return result?.status === 200 ? [{ id: l.id, name: l.name, points: series(result.answer, l.column) }] : []
  })
  const title = view.title(s)
  const sliding = s.range === 'last24Hours' || s.range === 'last7Days' || s.range === 'last30Days'
  const cut = { first: sliding, last: typeof s.range === 'string' }
  const notes = useAnnotations(s, lines[0]?.points ?? [], interval)
  return (
    <figure class="card graph-card" aria-labelledby="graph-title">
      <header>
        <h2 id="graph-title">{title}</h2>
        <Exactness result={results?.[view.lines(s)[0]?.query ?? '']} />
        <ul class="legend" aria-hidden="true">
          {lines.map((l) => (
            <li key={l.id}>
              <span class={'key ' + l.id} />
              {l.name}
            </li>
          ))}
          {s.compare !== 'none' && twice(lines) && (
            <li>
              <span class="key before" />
              {texts.previous}
            </li>
          )}
        </ul>
        {view.metrics && (
          <Choice
            label={texts.metric}
            value={s.metric}
            choose={(metric) => go({ metric })}
            options={metrics.map((id) => [id, texts.metrics[id]] as const)}
          />
        )}
        <button type="button" class="small" aria-pressed={table} onClick={() => tabulate(!table)} title="T">
          {texts.asTable}
        </button>
      </header>
      {lines.length > 0 ? (
        <Graph
          lines={lines}
          notes={notes}
          interval={interval}
          table={table}
          label={`${title}. ${texts.graphHint}`}
          cut={cut}
        />
      ) : (
        <div class="graph waiting" />
      )}
      <figcaption class="quiet">{lines.map((l) => summary(l, interval, cut)).join(' ')}</figcaption>
      <Annotations notes={notes} interval={interval} />
    </figure>
  )
}
