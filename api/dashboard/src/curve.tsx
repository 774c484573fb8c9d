// A graph with a heading, a legend, a sentence about each line, and a table of its values.
import { useState } from 'preact/hooks'
import type { Interval } from './format'
import { Graph, summary, type Line } from './graph'
import { useKeys } from './keys'
import { texts } from './texts'

export function Curve({
  title,
  lines,
  interval,
  cut,
}: {
  title: string
  /** lines is undefined until the figures have arrived. */
  lines: Line[] | undefined
  interval: Interval
  cut: { first: boolean; last: boolean }
}) {
  const [table, tabulate] = useState(false)
  useKeys({ t: () => tabulate((shown) => !shown) })
  return (
    <figure class="card graph-card" aria-labelledby="graph-title">
      <header>
        <h2 id="graph-title">{title}</h2>
        <ul class="legend" aria-hidden="true">
          {lines?.map((l) => (
            <li key={l.id}>
              <span class={'key ' + l.id} />
              {l.name}
            </li>
          ))}
        </ul>
        <button type="button" class="small" aria-pressed={table} onClick={() => tabulate(!table)} title="T">
          {texts.asTable}
        </button>
      </header>
      {lines ? (
        <Graph
          lines={lines}
          notes={[]}
          interval={interval}
          table={table}
          cut={cut}
          label={`${title}. ${texts.graphHint}`}
        />
      ) : (
        <div class="graph waiting" />
      )}
      <figcaption class="quiet">{lines?.map((l) => summary(l, interval, cut)).join(' ')}</figcaption>
    </figure>
  )
}
