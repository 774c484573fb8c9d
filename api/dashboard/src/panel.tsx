// A panel: a list of rows that filter, with what can be done with its figures.
import { useState } from 'preact/hooks'
import { addFilter, state } from './address'
import type { Query, Result } from './api'
import { count } from './format'
import { empty, type Panel } from './panels'
import { copyText, Delta } from './parts'
import { list } from './rows'
import { curl, csv, download } from './table'
import { texts } from './texts'

export function PanelCard({ panel, query, result }: { panel: Panel; query: Query; result: Result | undefined }) {
  const title = texts.panels[panel.id]
  return (
    <section class="card panel" aria-labelledby={'panel-' + panel.id} data-panel={panel.id}>
      <header>
        <h2 id={'panel-' + panel.id}>{title}</h2>
        <span class="quiet unit">{panel.unit(state.value)}</span>
        <Exactness result={result} />
        {result?.status === 200 && <Menu title={title} name={panel.id} query={query} result={result} />}
      </header>
      <Rows panel={panel} result={result} />
    </section>
  )
}

/** Exactness says how far a figure may be off. Exact figures need no word. */
export function Exactness({ result }: { result: Result | undefined }) {
  if (result?.headers['Octavo-Result'] !== 'approximate') return null
  const bound = result.headers['Octavo-Error-Bound'] ?? ''
  return <span class="bound" title={texts.approximateHint}>± {bound}</span>
}

function Rows({ panel, result }: { panel: Panel; result: Result | undefined }) {
  if (!result) return <Skeleton />
  if (result.status !== 200) return <p class="quiet none">{texts.panelFailed} {result.answer.error?.message}</p>
  const rows = list(result.answer)
  if (empty(panel, rows)) return <p class="quiet none">{texts.empty[panel.id]}</p>
  const most = Math.max(1, ...rows.map((r) => panel.size(r.value)))
  const all = result.answer.rowsTotal ?? rows.length
  const compared = rows.some((r) => typeof r.before === 'number' && r.before > 0)
  return (
    <>
      <ol class="rows">
        {rows.map((row) => {
          const name = panel.name(row.key)
          const filter = (event: MouseEvent) =>
            addFilter({ column: panel.column, not: event.altKey, value: row.key })
          return (
            <li key={row.key}>
              <span class="bar" style={{ width: `${(100 * panel.size(row.value)) / most}%` }} aria-hidden="true" />
              <button type="button" class="name" title={name} onClick={filter}>{name}</button>
              {typeof row.value === 'number' && (
                <Delta now={row.value} before={row.before as number | null | undefined} write={count} added={compared} />
              )}
              <span class="value">{panel.show(row.value)}</span>
            </li>
          )
        })}
      </ol>
      {all > rows.length && <p class="quiet more">{texts.more(count(rows.length), count(all))}</p>}
    </>
  )
}

function Menu({ title, name, query, result }: { title: string; name: string; query: Query; result: Result }) {
  const [said, say] = useState('')
  const { org, site } = state.value
  const copy = async () => say((await copyText(curl(org, site, query))) ? texts.copied : texts.notCopied)
  return (
    <details class="menu" onBlur={(e) => {
      const all = e.currentTarget as HTMLDetailsElement
      if (!all.contains(e.relatedTarget as Node | null)) all.open = false
    }}>
      <summary aria-label={texts.menu(title)} title={texts.menu(title)}>⋯</summary>
      <div class="menu-items">
        <button type="button" onClick={() => download(`${name}.csv`, csv(result.answer))}>{texts.csv}</button>
        <button type="button" onClick={() => void copy()}>{texts.curl}</button>
        <p role="status">{said}</p>
      </div>
    </details>
  )
}

function Skeleton() {
  return (
    <div class="skeleton" aria-hidden="true">
      {[90, 70, 55, 40, 30].map((width) => <i key={width} style={{ width: `${width}%` }} />)}
    </div>
  )
}
