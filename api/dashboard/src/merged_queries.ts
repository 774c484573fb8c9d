// Queries about a page before and after a merge. Both ranges have the same length.
import type { State } from './address'
import type { Query } from './api'
import { about } from './page_queries'
import { ask, opened, people } from './queries'

const day = 86_400_000
/** longest is the longest range before and after a merge, in milliseconds. */
const longest = 7 * day

/**
 * sides returns the ranges before and after a merge. Each range is as long as the time since the merge, but not longer
 * than a week.
 */
export function sides(at: string, now: number) {
  const merged = Date.parse(at)
  const span = Math.min(longest, now - merged)
  const time = (ms: number) => new Date(ms).toISOString()
  return {
    span,
    before: { from: time(merged - span), to: time(merged) },
    after: { from: time(merged), to: time(merged + span) },
  }
}

export const mergedQuery = (side: 'before' | 'after', name: string) => side + name

/** mergedQueries returns the queries for the page's totals before and after the merge. */
export function mergedQueries(s: State, at: string, now: number): Record<string, Query> {
  const { before, after } = sides(at, now)
  const all: Record<string, Query> = {}
  for (const [side, range] of [['before', before] as const, ['after', after] as const]) {
    const { query } = ask({ ...s, range, compare: 'none' }, [about(s.page)])
    all[mergedQuery(side, 'people')] = query(
      ['peopleCount', 'engagedTime', 'meanScrollDepth', 'pageFeedbackRating'],
      [people],
    )
    all[mergedQuery(side, 'views')] = query(['eventsCount'], opened.people)
    all[mergedQuery(side, 'reads')] = query(['eventsCount'], opened.agents)
  }
  return all
}
