// Titles of pages for the paths in a view's lists. A query loads the titles when the paths are known.
import type { State } from './address'
import type { Condition, Query, Results } from './api'
import type { View } from './views'

/** most is the largest number of pairs of a path and a title. A path has several pairs if its title has changed. */
const most = 1000

/** titlesOf returns a query for the titles of paths. The most frequent title comes first. */
export const titlesOf = (s: State, where: Condition[]): Query => {
  const pair = [{ column: 'urlPath' }, { column: 'pageTitle' }]
  return {
    range: s.range,
    timezone: s.zone,
    select: [...pair, { column: 'eventsCount' }],
    groupBy: pair,
    where: [...where, { column: 'pageTitle', operator: 'notIn', values: [null] }],
    limit: most,
  }
}

/** titlesIn returns a query for the titles of all paths in answers. */
export const titlesIn = (s: State, results: Results): Record<string, Query> => {
  const at = pathsIn(results)
  return at.length ? { titles: titlesOf(s, [{ column: 'urlPath', values: at }]) } : {}
}

/** titled returns a view that also loads the titles of all paths in its answers. */
export const titled = (view: View): View => ({ ...view, then: titlesIn })

function pathsIn(results: Results): string[] {
  const columns = Object.values(results).flatMap((r) => (r.status === 200 && r.answer.columns) || [])
  const paths = columns.flatMap((c) => (c.column === 'urlPath' ? (c.values as (string | null)[]) : []))
  return [...new Set(paths.flatMap((path) => path ?? []))]
}
