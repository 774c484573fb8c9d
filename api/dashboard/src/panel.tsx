// A panel: a list whose rows can become filters, with a menu of actions on its figures.
import { useState } from 'preact/hooks'
import { addFilter, elsewhere, state } from './address'
import type { Query, Result } from './api'
import { count } from './format'
import { CountryMap, world } from './map'
import { empty, type Panel } from './panels'
import { Link } from './link'
import { copyText, Delta } from './parts'
import { explored } from './queries'
import { list, titles } from './rows'
import { pass } from './share'
import { curl, csv, download } from './table'
import { texts } from './texts'

export function PanelCard({
  panel,
  query,
  result,
  names,
  busy,
}: {
  panel: Panel
  query: Query | undefined
  result: Result | undefined
  /** names is the result of the query for the titles of the pages whose paths the panel lists. */
  names?: Result | undefined
  busy: boolean
}) {
  const { title } = panel
  const [table, tabulate] = useState(false)
  return (
    <section
      class={'card panel' + (panel.lessIsGood ? ' less-is-good' : '')}
      aria-labelledby={'panel-' + panel.id}
      data-panel={panel.id}
    >
      <header>
        <h2 id={'panel-' + panel.id}>{title}</h2>
        <span class="quiet unit">{panel.unit(state.value)}</span>
        <Exactness result={result} />
        {panel.map && (
          <button type="button" class="small" aria-pressed={table} onClick={() => tabulate(!table)}>
            {texts.asTable}
          </button>
        )}
        {query && result?.status === 200 && (
          <Menu
            title={title}
            name={panel.id}
            command={curl(state.value.org, state.value.site, query)}
            file={() => csv(result.answer)}
          />
        )}
      </header>
      {panel.about && <p class="quiet about">{panel.about}</p>}
      <Rows panel={panel} query={query} result={result} names={titles(names)} busy={busy} table={table} />
    </section>
  )
}

/** Exactness shows the possible error of an approximate figure. For an exact figure, it shows nothing. */
export function Exactness({ result }: { result: Result | undefined }) {
  if (result?.headers['Octavo-Result'] !== 'approximate') return null
  const bound = result.headers['Octavo-Error-Bound'] ?? ''
  return (
    <span class="bound" title={texts.approximateHint}>
      ± {bound}
    </span>
  )
}

function Rows({
  panel,
  query,
  result,
  names,
  busy,
  table,
}: {
  panel: Panel
  query: Query | undefined
  result: Result | undefined
  names: Map<string | null, string>
  busy: boolean
  table: boolean
}) {
  if (!result) return busy ? <Skeleton /> : <p class="quiet none">{texts.panelFailed}</p>
  if (result.status !== 200)
    return (
      <p class="quiet none">
        {texts.panelFailed} {result.answer.error?.message}
      </p>
    )
  const every = list(result.answer)
  if (empty(panel, every)) return <p class="quiet none">{panel.none}</p>
  const map = panel.map && !table && world.value !== null
  const rows = panel.map && !table ? every.slice(0, map ? 4 : 9) : every
  const most = Math.max(1, ...rows.map((r) => panel.size(r.value)))
  const all = result.answer.rowsTotal ?? rows.length
  const compared = rows.some((r) => typeof r.before === 'number' && r.before > 0)
  return (
    <>
      {map && <CountryMap panel={panel} rows={every} />}
      <ol class={table ? 'rows scroll' : 'rows'}>
        {rows.map((row) => {
          const name = panel.name(row.key)
          const title = names.get(row.key) ?? name
          const said = title === name ? name : [title, <span class="quiet"> {name}</span>]
          const filter = (event: MouseEvent) => addFilter({ column: panel.column, not: event.altKey, value: row.key })
          return (
            <li key={row.key}>
              {panel.size(row.value) > 0 && (
                <span class="bar" style={{ width: `${(100 * panel.size(row.value)) / most}%` }} aria-hidden="true" />
              )}
              {panel.still ? (
                <span class="name" title={name}>
                  {said}
                </span>
              ) : (
                <button type="button" class="name" title={name} onClick={filter}>
                  {said}
                </button>
              )}
              {typeof row.value === 'number' && (
                <Delta
                  now={row.value}
                  before={row.before as number | null | undefined}
                  write={count}
                  added={compared}
                />
              )}
              <span class="value">{panel.show(row.value)}</span>
              {panel.opens &&
                !pass.value &&
                (row.key ? (
                  <Link
                    to={{ ...elsewhere, view: 'pages', page: trimmed(row.key) }}
                    class="open"
                    label={texts.openPage(name)}
                  >
                    →
                  </Link>
                ) : (
                  <span class="open" />
                ))}
            </li>
          )
        })}
      </ol>
      {all > rows.length && (
        <p class="quiet more">
          {texts.more(count(rows.length), count(all))}
          {every.length < all && query && explored(query) && (
            <Link to={{ ...elsewhere, ...explored(query) }} class="all">
              {texts.all(count(all))}
            </Link>
          )}
        </p>
      )}
    </>
  )
}

/** trimmed returns the path of a page without a slash at its end. */
export const trimmed = (path: string) => (path.length > 1 ? path.replace(/\/$/, '') : path)

/** Menu shows the menu of actions on a card's figures. */
export function Menu({
  title,
  name,
  command,
  file,
}: {
  title: string
  name: string
  command: string
  file: () => string
}) {
  const [said, say] = useState('')
  const copy = async () => say((await copyText(command)) ? texts.copied : texts.notCopied)
  return (
    <details
      class="menu"
      onBlur={(e) => {
        const all = e.currentTarget as HTMLDetailsElement
        if (!all.contains(e.relatedTarget as Node | null)) all.open = false
      }}
    >
      <summary aria-label={texts.menu(title)} title={texts.menu(title)}>
        ⋯
      </summary>
      <div class="menu-items">
        <button type="button" onClick={() => download(`${name}.csv`, file())}>
          {texts.csv}
        </button>
        <button type="button" onClick={() => void copy()}>
          {texts.curl}
        </button>
        <p role="status">{said}</p>
      </div>
    </details>
  )
}

export function Skeleton() {
  return (
    <div class="skeleton" aria-hidden="true">
      {[90, 70, 55, 40, 30].map((width) => (
        <i key={width} style={{ width: `${width}%` }} />
      ))}
    </div>
  )
}
