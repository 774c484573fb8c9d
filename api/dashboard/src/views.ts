// A view of a site has queries, totals, a graph and lists. The overview is here, and the other views are in
// more_views.ts.
import type { FunctionComponent } from 'preact'
import type { State } from './address'
import type { LineID } from './graph'
import type { AnyQuery, Query, Results } from './api'
import { overviewPanels, type Panel } from './panels'
import { queries } from './queries'
import { single } from './rows'
import { texts } from './texts'
import { titlesIn } from './titles'
import { overviewTotals, type Total } from './totals'

/** Drawn is a line of a view's graph. Its CSS class sets its colour. */
export type Drawn = { id: LineID; name: string; query: string; column: 'eventsCount' | 'peopleCount' }

/** Shown has the answers of a view, with their queries. */
export type Shown = { s: State; results: Results | undefined; asked: Record<string, Query>; busy: boolean }

export type View = {
  queries: (s: State) => Record<string, AnyQuery>
  /** then returns queries that depend on the first answers. The view shows these answers meanwhile. */
  then?: (s: State, results: Results) => Record<string, AnyQuery>
  totals: Total[]
  title: (s: State) => string
  lines: (s: State) => Drawn[]
  /** metrics means that the reader chooses the graph's metric. */
  metrics: boolean
  panels: Panel[]
  /** body is the part of the view before its lists. */
  body?: FunctionComponent<Shown>
  /** whose means that the reader chooses between the lists of people and agents. */
  whose: boolean
  /** empty reports whether the range has none of the events that the view is about. */
  empty: (results: Results) => boolean
  /** nothing returns the message about an empty range. */
  nothing: (range: string) => string
  /** hint explains why there may be no events. */
  hint?: string
}

/** none reports whether a query's metric is known to be 0. */
export const none = (results: Results, query: string, column: string) => {
  const result = results[query]
  return result?.status === 200 && !single<number>(result.answer, column).now
}

/** readers shows people and agents over time. */
export const readers: Pick<View, 'title' | 'lines' | 'metrics'> = {
  title: (s) => texts.graph[s.metric],
  lines: (s) => [
    {
      id: 'people',
      name: s.metric === 'people' ? texts.visitors : texts.views,
      query: 'peopleSeries',
      column: s.metric === 'people' ? 'peopleCount' : 'eventsCount',
    },
    { id: 'agents', name: texts.reads, query: 'agentSeries', column: 'eventsCount' },
  ],
  metrics: true,
}

export const overview: View = {
  ...readers,
  queries,
  then: titlesIn,
  totals: overviewTotals,
  panels: overviewPanels,
  whose: true,
  empty: (r) =>
    none(r, 'people', 'peopleCount') &&
    none(r, 'people', 'sessionsCount') &&
    none(r, 'views', 'eventsCount') &&
    none(r, 'reads', 'eventsCount'),
  nothing: texts.nothing,
}
