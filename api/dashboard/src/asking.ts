// A hook that sends a batch of queries. The queries are computed from the address, and are sent again when the address
// changes.
import { useEffect, useMemo } from 'preact/hooks'
import { state, type State } from './address'
import { batch, type AnyQuery, type Results } from './api'
import { Loader } from './load'

export type Asked<Q extends AnyQuery> = { results: Results; asked: Record<string, Q> }

/**
 * useQueries loads the answers to queries. It then shows these answers, and loads the answers to the queries that the
 * function `then` computes from them. The old answers are shown while new answers are loading, unless the key that
 * keyOf returns has changed.
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
