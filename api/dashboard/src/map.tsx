// A map of the countries in a list, with a sentence about the selected country. The arrow keys move from country to
// country. The list below the map and the table have the same rows.
import { useEffect, useState } from 'preact/hooks'
import { signal } from '@preact/signals'
import { addFilter, state } from './address'
import { count } from './format'
import type { Panel } from './panels'
import type { Row } from './rows'
import { texts } from './texts'

/**
 * world is the module with the outlines of countries. It is undefined until its file is loaded, and null if that
 * failed.
 */
export const world = signal<typeof import('./world') | null | undefined>(undefined)

/**
 * shade returns the strength of a country's colour, from 0 to 1. It uses a square root, so that small values differ
 * visibly.
 */
const shade = (value: number, most: number) => 0.25 + 0.75 * Math.sqrt(value / most)

type Known = { key: string; value: number }

/**
 * of returns the shape of a country from a table of shapes. Senders of events choose the codes, so a code can be any
 * text.
 */
const of = (parts: Record<string, string> | undefined, code: string) =>
  parts && Object.hasOwn(parts, code) ? parts[code] : undefined

export function CountryMap({ panel, rows }: { panel: Panel; rows: Row[] }) {
  const [at, point] = useState<number | undefined>(undefined)
  useEffect(() => {
    if (!world.peek())
      import('./world').then(
        (file) => (world.value = file),
        () => (world.value = null),
      )
  }, [])
  const file = world.value
  const known = rows
    .flatMap((r) => (r.key ? [{ key: r.key, value: panel.size(r.value) }] : []))
    .sort((a, b) => b.value - a.value)
  const most = Math.max(1, known[0]?.value ?? 1)
  const says = (row: Known | undefined) => row && `${panel.name(row.key)}: ${count(row.value)}`
  const choose = (row: Known | undefined, not: boolean) =>
    row && addFilter({ column: panel.column, not, value: row.key })

  const move = (event: KeyboardEvent) => {
    const n = known.length
    const [next, last] = [(at ?? -1) + 1, (at ?? n) - 1]
    const to = { ArrowRight: next, ArrowDown: next, ArrowLeft: last, ArrowUp: last, Home: 0, End: n - 1 }[event.key]
    if (event.ctrlKey || event.metaKey) return
    if (event.key === 'Enter') choose(known[at ?? -1], event.altKey)
    else if (event.key === 'Escape') point(undefined)
    else if (to === undefined || event.altKey) return
    else point(Math.min(n - 1, Math.max(0, to)))
    event.preventDefault()
  }
  /** under returns the index in the list of the country that is under the pointer. */
  const under = (event: Event) => {
    const i = (event.target as SVGElement).dataset.at
    return i === undefined ? undefined : Number(i)
  }
  const drawn = known.map((r) => {
    const shape = of(file?.shapes, r.key)
    const spot = of(file?.spots, r.key)
    return { ...r, path: shape ?? (spot && `M${spot}h0`), kind: shape ? 'has' : 'has spot' }
  })
  const pointed = drawn[at ?? -1]
  return (
    <figure class="map">
      <div
        role="group"
        tabIndex={0}
        aria-label={`${panel.title}. ${texts.mapHint}`}
        aria-roledescription={texts.asMap}
        onKeyDown={move}
        onBlur={() => point(undefined)}
        onPointerMove={(e) => point(under(e))}
        onPointerLeave={() => point(undefined)}
        onClick={(e) => choose(known[under(e) ?? -1], e.altKey)}
      >
        <svg viewBox={`0 0 ${file?.size.join(' ') ?? '1000 431'}`} aria-hidden="true">
          {file && (
            <>
              <path
                d={Object.entries(file.shapes)
                  .map(([code, shape]) => (known.some((r) => r.key === code) ? '' : shape))
                  .join('')}
              />
              {drawn.map(
                (r, i) =>
                  r.path && (
                    <path
                      key={r.key}
                      data-at={i}
                      class={r.kind}
                      d={r.path}
                      style={{ '--shade': shade(r.value, most) }}
                    />
                  ),
              )}
              {pointed?.path && <path class={pointed.kind + ' at'} data-at={at} d={pointed.path} />}
            </>
          )}
        </svg>
      </div>
      <figcaption class="quiet" aria-live="polite">
        {says(pointed) ?? texts.map(says(known[0]) ?? '', known.length, panel.unit(state.value))}
      </figcaption>
    </figure>
  )
}
