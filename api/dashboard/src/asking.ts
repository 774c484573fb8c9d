// A batch of queries that the address determines. It is sent again when the address changes.
import { useEffect, useMemo } from 'preact/hooks'
import { state, type State } from './address'
import { batch, type AnyQuery, type Results } from './api'
import { Loader } from './load'

export type Asked<Q extends AnyQuery> = { results: Results; asked: Record<string, Q> }

/**
 * useQueries loads the answers to queries, and shows them. Then it loads the answers to further queries, which the
 * function `then` derives from the first answers. While new answers are loading, the old answers stay if their key is
 * equal.
 */
export function useQueries<Q extends AnyQuery>(
  queries: (s: State) => Record<string, Q>,
  keyOf: (s: State) => string[],
  then?: (s: State, results: Results) => Record<string, Q>,
): Loader<Asked<Q>> {
  const loader = useMemo(
    () =>
      new Loader<Asked<Q>>(() => {
        const s = state.value
        const asked = queries(s)
        return {
          key: [s.org, s.site, ...keyOf(s)].join(' '),
          load: async (signal, _, show) => {
            const results = await batch(s.org, s.site, asked, signal)
            const more = then?.(s, results) ?? {}
            if (Object.keys(more).length === 0) return { asked, results }
            show({ asked, results })
            return {
              asked: { ...asked, ...more },
              results: { ...results, ...(await batch(s.org, s.site, more, signal)) },
            }
          },
        }
      }),
    [],
  )
  useEffect(() => () => loader.end(), [loader])
  return loader
}
