// Annotations of a graph: merges, imports, publications and redirects, and notes that people have written.
import { useEffect, useState } from 'preact/hooks'
import type { State } from './address'
import { call, insights } from './api'
import { moment, type Interval } from './format'
import type { Point } from './rows'
import { pass } from './share'
import { texts } from './texts'

type Annotation = { id: string; kind: keyof typeof texts.annotationKinds; at: string; text: string }

/** Note is an annotation with the index of its point in the graph. */
export type Note = Annotation & { point: number }

/** most is the largest number of annotations that a graph shows. If there are more, it shows the newest. */
const most = 12

/**
 * useAnnotations loads the annotations of the graph's range. They arrive after the figures. After an error, there are
 * no annotations.
 */
export function useAnnotations(s: State, points: Point[], interval: Interval): Note[] {
  const [found, set] = useState<Annotation[]>([])
  const from = points[0]?.at
  const last = points.at(-1)?.at
  const page = s.page.startsWith('/') ? '' : s.page.split('/')[1]
  useEffect(() => {
    if (!from || !last || pass.peek()) return set([])
    const abort = new AbortController()
    const q = new URLSearchParams({ from, limit: String(most) })
    if (typeof s.range !== 'string') q.set('to', endOf(last, interval))
    if (page) q.set('pageId', page)
    call<{ items: Annotation[] }>(insights(s.org, s.site) + '/annotations?' + q.toString(), {
      signal: abort.signal,
    }).then(
      (list) => set(list.items),
      () => set([]),
    )
    return () => abort.abort()
  }, [s.org, s.site, page, from, last, interval])
  return found
    .flatMap((a) => {
      const point = points.findLastIndex((p) => Date.parse(p.at) <= Date.parse(a.at))
      return point < 0 ? [] : [{ ...a, point }]
    })
    .reverse()
}

/** endOf returns the end of the interval that begins at the last point of a range, or a later time. */
function endOf(last: string, interval: Interval): string {
  const days = { hour: 1 / 24, day: 1, week: 7, month: 31 }[interval]
  return new Date(Date.parse(last) + days * 86_400_000).toISOString()
}

/** named returns the text of an annotation. */
export const named = (n: Note) => `${texts.annotationKinds[n.kind] ?? n.kind}: ${n.text}`

/** Annotations lists the annotations that the graph marks. */
export function Annotations({ notes, interval }: { notes: Note[]; interval: Interval }) {
  if (notes.length === 0) return null
  return (
    <ol class="annotations" aria-label={texts.annotations}>
      {notes.map((n, i) => (
        <li key={n.id}>
          <span class="badge" aria-hidden="true">
            {i + 1}
          </span>
          <span class="quiet">{moment(n.at, interval)}</span> <span>{named(n)}</span>
        </li>
      ))}
    </ol>
  )
}
