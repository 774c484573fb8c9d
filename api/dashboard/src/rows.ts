// Answers of the API as rows.
import type { Answer, Columns, Result } from './api'

export type Row = { key: string | null; value: unknown; before: unknown }

const values = (columns: Columns | undefined, at: number): unknown[] => columns?.[at]?.values ?? []

/** list returns the rows of an answer with a group and a metric. */
export function list(answer: Answer): Row[] {
  const before = values(answer.compare?.columns, 1)
  const metric = values(answer.columns, 1)
  return values(answer.columns, 0).map((key, i) => ({ key: key as string | null, value: metric[i], before: before[i] }))
}

/**
 * titles returns the titles of paths. For each path, it takes the first title in the answer, which is the most
 * frequent.
 */
export const titles = (result: Result | undefined) =>
  new Map(
    result?.status === 200
      ? list(result.answer)
          .reverse()
          .map((r) => [r.key, r.value as string])
      : [],
  )

/** single returns the value of a metric, and its previous value, from an answer of one row. */
export function single<T>(answer: Answer, column: string): { now: T | null; before: T | null | undefined } {
  const find = (columns: Columns | undefined) => columns?.find((c) => c.column === column)?.values[0] as T | undefined
  return {
    now: find(answer.columns) ?? null,
    before: answer.compare ? (find(answer.compare.columns) ?? null) : undefined,
  }
}

export type Point = { at: string; value: number; before: number | undefined; atBefore: string | null }

/** series returns the points of an answer that groups by time. */
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

/** Answers counts the ratings of the assistant's answers. */
export type Answers = { positive: number; negative: number }
/** asRatings converts ratings of answers to ratings of a page. */
export const asRatings = (a: Answers | null): Ratings => ({ good: a?.positive ?? 0, ok: 0, bad: a?.negative ?? 0 })

export type Ratings = { good: number; ok: number; bad: number }
export const rated = (r: Ratings) => r.good + r.ok + r.bad
/** helpful returns the share of good ratings, or null without ratings. */
export const helpful = (r: Ratings | null | undefined) => (r && rated(r) ? r.good / rated(r) : null)
