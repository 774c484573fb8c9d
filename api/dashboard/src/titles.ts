// Queries for the titles of the pages whose paths a view lists. They can be sent only after the answers with the paths
// have arrived.
import type { State } from './address'
import type { Condition, Query, Results } from './api'
import type { View } from './views'

/** most is the largest number of pairs of a path and a title. If its title has changed, a path has several pairs. */
const most = 1000

/** titlesOf returns a query for the titles of paths, the most frequent title first. */
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

/** titlesIn returns a query for the titles of all paths in some answers. */
export const titlesIn = (s: State, results: Results): Record<string, Query> => {
  const at = pathsIn(results)
  return at.length ? { titles: titlesOf(s, [{ column: 'urlPath', values: at }]) } : {}
}

/** titled returns a view that also loads the titles of the paths in its answers. */
export const titled = (view: View): View => ({ ...view, then: titlesIn })

function pathsIn(results: Results): string[] {
  const columns = Object.values(results).flatMap((r) => (r.status === 200 && r.answer.columns) || [])
  const paths = columns.flatMap((c) => (c.column === 'urlPath' ? (c.values as (string | null)[]) : []))
  return [...new Set(paths.flatMap((path) => path ?? []))]
}
