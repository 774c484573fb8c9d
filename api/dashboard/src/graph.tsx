// A graph over time, or its values as a table. The arrow keys move from point to point.
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { brief, changed, count, moment, tick, type Interval } from './format'
import { named, type Note } from './annotations'
import type { Point } from './rows'
import { path, some, ticks } from './scale'
import { texts } from './texts'

/** LineID is the CSS class of a line, which sets its colour and dashes. */
export type LineID = 'people' | 'agents' | 'answering' | 'searching' | 'training' | 'others' | 'good' | 'bad'
export type Line = { id: LineID; name: string; points: Point[] }

type Props = {
  lines: Line[]
  notes: Note[]
  interval: Interval
  /**
   * cut reports whether the first and the last interval are incomplete because the range begins or ends within them.
   */
  cut: { first: boolean; last: boolean }
  table: boolean
  label: string
}

/** useWidth returns the current width of an element. */
function useWidth() {
  const ref = useRef<HTMLDivElement>(null)
  const [width, set] = useState(0)
  useLayoutEffect(() => {
    const element = ref.current
    if (!element) return
    const observer = new ResizeObserver(() => set(element.clientWidth))
    observer.observe(element)
    set(element.clientWidth)
    return () => observer.disconnect()
  }, [])
  return { ref, width }
}

/**
 * twice reports whether the graph shows each line for the range and for the compared range. With more than four lines
 * in total, readers could not follow the lines.
 */
export const twice = (lines: Line[]) => lines.length <= 2

/** summary returns the sentence about a line. It does not take an incomplete interval for the lowest value. */
export function summary(line: Line, interval: Interval, cut: Props['cut']): string {
  const { points, name } = line
  const complete = points.slice(cut.first ? 1 : 0, cut.last ? -1 : undefined)
  const least = Math.min(...(complete.length ? complete : points).map((p) => p.value))
  const most = points.reduce<Point | undefined>((a, b) => (a && a.value >= b.value ? a : b), undefined)
  if (!most || most.value === 0) return name + ': ' + texts.noEvents
  const sum = (of: (p: Point) => number) => points.reduce((n, p) => n + of(p), 0)
  const before = points.some((p) => p.before !== undefined) ? sum((p) => p.before ?? 0) : undefined
  const change = changed(
    sum((p) => p.value),
    before,
  )
  return (
    texts.summary(name, count(most.value), moment(most.at, interval), count(least)) +
    (change ? texts.summaryChange(change) : '')
  )
}

export function Graph(props: Props) {
  return props.table ? <GraphTable {...props} /> : <Drawing {...props} />
}

function Drawing({ lines, notes, interval, cut, label }: Props) {
  const { ref, width } = useWidth()
  const [at, point] = useState<number | undefined>(undefined)
  const times = lines[0]?.points ?? []
  const n = times.length
  const compared = twice(lines)
  useEffect(() => point(undefined), [n, times[0]?.at])

  const high = width < 500 ? 200 : 260
  const axis = ticks(
    Math.max(0, ...lines.flatMap((l) => l.points.flatMap((p) => [p.value, (compared && p.before) || 0]))),
  )
  const top = axis.at(-1) ?? 1
  const left = 24 + 7 * Math.max(...axis.map((v) => brief(v).length))
  const box = { left, right: Math.max(left + 1, width - 12), top: 12, bottom: high - 26 }
  const x = (i: number) => (n < 2 ? (box.left + box.right) / 2 : box.left + (i * (box.right - box.left)) / (n - 1))
  const y = (v: number) => box.bottom - (v / top) * (box.bottom - box.top)

  const move = (event: KeyboardEvent) => {
    const to = { ArrowLeft: (at ?? n) - 1, ArrowRight: (at ?? -1) + 1, Home: 0, End: n - 1 }[event.key]
    if (event.key === 'Escape') point(undefined)
    if (to === undefined || n === 0 || event.altKey || event.ctrlKey || event.metaKey) return
    event.preventDefault()
    point(Math.min(n - 1, Math.max(0, to)))
  }
  const hover = (event: PointerEvent) => {
    const from = (event.currentTarget as Element).getBoundingClientRect().left
    point(
      Math.min(n - 1, Math.max(0, Math.round(((event.clientX - from - box.left) / (box.right - box.left)) * (n - 1)))),
    )
  }
  const said = at === undefined ? '' : say(lines, notes, at, interval)
  return (
    <div
      ref={ref}
      class="graph"
      role="group"
      tabIndex={0}
      aria-label={label}
      aria-roledescription={texts.asGraph}
      onKeyDown={move}
      onPointerMove={hover}
      onPointerLeave={() => point(undefined)}
      onBlur={() => point(undefined)}
    >
      <svg width={width} height={high} aria-hidden="true">
        {axis.map((v) => (
          <g key={v}>
            <path class="grid" d={`M${box.left} ${y(v)}H${box.right}`} />
            <text class="axis" x={box.left - 8} y={y(v) + 4} text-anchor="end">
              {brief(v)}
            </text>
          </g>
        ))}
        {some(n, Math.floor(width / 84)).map((i) => (
          <text
            key={i}
            class="axis"
            x={x(i)}
            y={high - 6}
            text-anchor={i === 0 ? 'start' : i === n - 1 ? 'end' : 'middle'}
          >
            {tick(times[i]?.at ?? '', interval)}
          </text>
        ))}
        {width > 0 &&
          notes.map((n, i) => (
            <g key={n.id} class="note">
              <path d={`M${x(n.point)} ${box.top}V${box.bottom}`} />
              <circle cx={x(n.point)} cy={box.top} r="8" />
              <text x={x(n.point)} y={box.top + 4} text-anchor="middle">
                {i + 1}
              </text>
            </g>
          ))}
        {width > 0 &&
          lines.map((l) => (
            <Strokes key={l.id} line={l} x={x} y={y} cut={cut} bottom={box.bottom} compared={compared} />
          ))}
        {at !== undefined && (
          <g>
            <path class="cursor" d={`M${x(at)} ${box.top}V${box.bottom}`} />
            {lines.map((l) => (
              <circle key={l.id} class={'dot ' + l.id} cx={x(at)} cy={y(l.points[at]?.value ?? 0)} r="4.5" />
            ))}
          </g>
        )}
      </svg>
      {at !== undefined && (
        <Tip lines={lines} notes={notes} at={at} interval={interval} cut={cut} left={x(at)} flip={x(at) > width / 2} />
      )}
      <p class="hidden" aria-live="polite">
        {said}
      </p>
    </div>
  )
}

/** Strokes draws a line, and the line of the previous range. It draws incomplete intervals at the ends with dashes. */
function Strokes({
  line,
  x,
  y,
  cut,
  bottom,
  compared,
}: {
  line: Line
  x: (i: number) => number
  y: (v: number) => number
  cut: Props['cut']
  bottom: number
  compared: boolean
}) {
  const now = line.points.map((p, i) => [x(i), y(p.value)] as const)
  const before = line.points.flatMap((p, i) => (p.before === undefined ? [] : [[x(i), y(p.before)] as const]))
  const n = now.length
  const from = cut.first && n > 2 ? 1 : 0
  const to = cut.last && n > 2 ? n - 1 : n
  const end = now[n - 1]
  return (
    <g class={line.id}>
      {n > 1 && <path class="area" d={path(now) + `L${end?.[0]} ${bottom}L${now[0]?.[0]} ${bottom}Z`} />}
      {compared && <path class="line before" d={path(before)} />}
      <path class="line" d={path(now.slice(from, to))} />
      {from > 0 && <path class="line part" d={path(now.slice(0, 2))} />}
      {to < n && <path class="line part" d={path(now.slice(n - 2))} />}
      {n === 1 && end && <circle class={'dot ' + line.id} cx={end[0]} cy={end[1]} r="4.5" />}
    </g>
  )
}

function Tip({
  lines,
  notes,
  at,
  interval,
  cut,
  left,
  flip,
}: {
  lines: Line[]
  notes: Note[]
  at: number
  interval: Interval
  cut: Props['cut']
  left: number
  flip: boolean
}) {
  const time = lines[0]?.points[at]
  const last = at === (lines[0]?.points.length ?? 0) - 1
  return (
    <div class={flip ? 'tip flip' : 'tip'} style={{ left: `${left}px` }} aria-hidden="true">
      <strong>
        {moment(time?.at ?? '', interval)}
        {cut.last && last ? ` (${texts.soFar})` : ''}
      </strong>
      {lines.map((l) => (
        <div key={l.id} class="tip-row">
          <span class={'key ' + l.id} />
          {l.name}
          <b>{count(l.points[at]?.value ?? 0)}</b>
          {l.points[at]?.before !== undefined && (
            <span class="quiet">{texts.before(count(l.points[at]?.before ?? 0))}</span>
          )}
        </div>
      ))}
      {notes
        .filter((n) => n.point === at)
        .map((n) => (
          <div key={n.id} class="tip-note">
            {named(n)}
          </div>
        ))}
      {time?.atBefore && <div class="quiet">{texts.before(moment(time.atBefore, interval))}</div>}
    </div>
  )
}

/** say returns the text that a screen reader speaks for a point of the graph. */
function say(lines: Line[], notes: Note[], at: number, interval: Interval): string {
  const values = lines.map((l) => {
    const p = l.points[at]
    return `${l.name} ${count(p?.value ?? 0)}` + (p?.before === undefined ? '' : ` (${texts.before(count(p.before))})`)
  })
  const happened = notes.filter((n) => n.point === at).map(named)
  return texts.point(moment(lines[0]?.points[at]?.at ?? '', interval), [...values, ...happened])
}

function GraphTable({ lines, interval, label }: Props) {
  const times = lines[0]?.points ?? []
  const compared = times.some((p) => p.before !== undefined)
  return (
    <div class="scroll" tabIndex={0} role="group" aria-label={label}>
      <table>
        <thead>
          <tr>
            <th scope="col">{texts.time}</th>
            {lines.map((l) => [
              <th key={l.id} scope="col" class="number">
                {l.name}
              </th>,
              compared && (
                <th key={l.id + 'before'} scope="col" class="number">
                  {texts.previous}
                </th>
              ),
            ])}
          </tr>
        </thead>
        <tbody>
          {times.map((p, i) => (
            <tr key={p.at}>
              <th scope="row">{moment(p.at, interval)}</th>
              {lines.map((l) => [
                <td key={l.id} class="number">
                  {count(l.points[i]?.value ?? 0)}
                </td>,
                compared && (
                  <td key={l.id + 'before'} class="number quiet">
                    {count(l.points[i]?.before ?? 0)}
                  </td>
                ),
              ])}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
