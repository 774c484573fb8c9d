// Functions that convert answers of the API to rows and points.
import type { Answer, Columns, Result } from './api'

export type Row = { key: string | null; value: unknown; before: unknown }

const values = (columns: Columns | undefined, at: number): unknown[] => columns?.[at]?.values ?? []

/** list returns the rows of an answer that has one column for the group and one metric. */
export function list(answer: Answer): Row[] {
  const before = values(answer.compare?.columns, 1)
  const metric = values(answer.columns, 1)
  return values(answer.columns, 0).map((key, i) => ({ key: key as string | null, value: metric[i], before: before[i] }))
}

/**
 * titles returns the titles of paths from an answer. If a path has several titles, it takes the first title, which is
 * the most frequent.
 */
export const titles = (result: Result | undefined) =>
  new Map(
    result?.status === 200
      ? list(result.answer)
          .reverse()
          .map((r) => [r.key, r.value as string])
      : [],
  )

/** single returns a metric's value and its previous value from an answer that has one row. */
export function single<T>(answer: Answer, column: string): { now: T | null; before: T | null | undefined } {
  const find = (columns: Columns | undefined) => columns?.find((c) => c.column === column)?.values[0] as T | undefined
  return {
    now: find(answer.columns) ?? null,
    before: answer.compare ? (find(answer.compare.columns) ?? null) : undefined,
  }
}

export type Point = { at: string; value: number; before: number | undefined; atBefore: string | null }

/** series returns the points of an answer that is grouped by time. */
export function series(answer: Answer, column: string): Point[] {
  const find = (columns: Columns | undefined) =>
    columns?.find((c) => c.column === column)?.values as number[] | undefined
  const now = find(answer.columns) ?? []
  const before = find(answer.compare?.columns)
  const times = values(answer.compare?.columns, 0) as (string | null)[]
  return (values(answer.columns, 0) as string[]).map((at, i) => ({
    at,
    value: now[i] ?? 0,
    before: before?.[i],
    atBefore: times[i] ?? null,
  }))
}

/** Answers counts how readers have rated the assistant's answers. */
export type Answers = { positive: number; negative: number }
/** asRatings converts ratings of the assistant's answers to the form of ratings of pages. */
export const asRatings = (a: Answers | null): Ratings => ({ good: a?.positive ?? 0, ok: 0, bad: a?.negative ?? 0 })

export type Ratings = { good: number; ok: number; bad: number }
export const rated = (r: Ratings) => r.good + r.ok + r.bad
/** helpful returns the share of good ratings. It returns null if there are no ratings. */
export const helpful = (r: Ratings | null | undefined) => (r && rated(r) ? r.good / rated(r) : null)
