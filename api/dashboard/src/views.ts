// A view of a site has queries, totals, a graph and lists. The overview is here, and the others are in more_views.ts.
import type { FunctionComponent } from 'preact'
import type { State } from './address'
import type { LineID } from './graph'
import type { PagesQuery, Query, Results, StepsQuery } from './api'
import { overviewPanels, type Panel } from './panels'
import { queries } from './queries'
import { single } from './rows'
import { texts } from './texts'
import { overviewTotals, type Total } from './totals'

/** Drawn is a line of a view's graph. Its class is its colour. */
export type Drawn = { id: LineID; name: string; query: string; column: 'eventsCount' | 'peopleCount' }

/** Shown are the answers of a view with what was asked. */
export type Shown = { s: State; results: Results | undefined; asked: Record<string, Query>; busy: boolean }

export type View = {
  queries: (s: State) => Record<string, Query | PagesQuery | StepsQuery>
  /** then asks what follows from the answers. */
  then?: (s: State, results: Results) => Record<string, Query>
  totals: Total[]
  title: (s: State) => string
  lines: (s: State) => Drawn[]
  /** metrics says that the reader chooses what the graph counts. */
  metrics: boolean
  panels: Panel[]
  /** body is what the view shows before its lists. */
  body?: FunctionComponent<Shown>
  /** whose says that the reader chooses whose lists are shown. */
  whose: boolean
  /** empty reports whether nothing happened, neither by people nor by agents. */
  empty: (results: Results) => boolean
  /** nothing says so. */
  nothing: (range: string) => string
  /** hint says why that may be. */
  hint?: string
}

/** none reports that a metric of a query is known to be 0. */
export const none = (results: Results, query: string, column: string) => {
  const result = results[query]
  return result?.status === 200 && !single<number>(result.answer, column).now
}

/** readers are people and agents over time. */
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
