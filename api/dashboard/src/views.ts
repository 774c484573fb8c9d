// The type of a site's view with queries, totals, a graph and lists. This file has the overview, and more_views.ts has
// the other views.
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

/** Drawn describes a line of a view's graph. Its id is the CSS class that sets its colour. */
export type Drawn = { id: LineID; name: string; query: string; column: 'eventsCount' | 'peopleCount' }

/** Shown has the answers that a view has received, with their queries. */
export type Shown = { s: State; results: Results | undefined; asked: Record<string, Query>; busy: boolean }

export type View = {
  queries: (s: State) => Record<string, AnyQuery>
  /**
   * then returns queries that are computed from the first answers. Until the answers to these queries arrive, the view
   * shows the first answers.
   */
  then?: (s: State, results: Results) => Record<string, AnyQuery>
  totals: Total[]
  title: (s: State) => string
  lines: (s: State) => Drawn[]
  /** metrics means that the reader can choose the metric of the graph. */
  metrics: boolean
  panels: Panel[]
  /** body is the part of the view between its graph and its lists. */
  body?: FunctionComponent<Shown>
  /** whose means that the reader can choose between lists about people and lists about agents. */
  whose: boolean
  /** empty reports whether the range has no events of the kind that the view shows. */
  empty: (results: Results) => boolean
  /** nothing returns the message for a range without events. */
  nothing: (range: string) => string
  /** hint explains why there may be no events in the range. */
  hint?: string
}

/** none reports whether the answer to a query has the value 0 in a metric. */
export const none = (results: Results, query: string, column: string) => {
  const result = results[query]
  return result?.status === 200 && !single<number>(result.answer, column).now
}

/** readers has the members of a view whose graph shows people and agents over time. */
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
