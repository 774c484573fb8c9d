// Queries of the overview, and parts of queries that other views also use. A batch has all queries of a view.
import type { Filter, State, Who, Zone } from './address'
import type { Condition, Query } from './api'
import type { Interval } from './format'

/** people selects events of people: events whose user agent is not a bot's, including events without a user agent. */
export const people = { column: 'visitorBot', values: [''] } satisfies Condition
const agents: Condition = { column: 'visitorBot', operator: 'notIn', values: [''] }
export const type = (...values: string[]): Condition => ({ column: 'eventType', values })
const views = type('page_view')
const reads = type('page_view', 'page_markdown_request', 'llms_request', 'mcp_request')

/**
 * opened has, for people, agents or all, the conditions that select the events of opened pages. sent has the conditions
 * that select all events of people, of agents, or of both.
 */
export const opened: Record<Who, Condition[]> = { people: [people, views], agents: [agents, reads], all: [reads] }
export const sent: Record<Who, Condition[]> = { people: [people], agents: [agents], all: [] }
export const external: Condition = { column: 'channel', operator: 'notIn', values: ['internal'] }

export function chips(filters: Filter[]): Condition[] {
  // Several filters of the same column and kind become one condition, whose values are the values of these filters.
  const conditions = new Map<string, Extract<Condition, { column: string }>>()
  for (const f of filters) {
    const key = f.column + f.not
    const c = conditions.get(key) ?? { column: f.column, operator: f.not ? 'notIn' : 'in', values: [] }
    c.values.push(f.value)
    conditions.set(key, c)
  }
  return [...conditions.values()]
}

/**
 * explored returns a state in which the view explore shows the rows of a list. It returns undefined if the address
 * cannot have the conditions of the list.
 */
export function explored({ where, groupBy, select, order }: Query): Partial<State> | undefined {
  const by = groupBy?.[0]?.column
  const of = select[1]?.column
  if (!by || !of) return undefined
  let who: Who = 'all'
  const filters: Filter[] = []
  for (const c of where) {
    if ('or' in c || !['in', 'notIn'].includes(c.operator ?? 'in')) return undefined
    const not = c.operator === 'notIn'
    if (c.column === people.column) who = not ? 'agents' : 'people'
    else
      for (const value of c.values) {
        if (typeof value === 'object' && value) return undefined
        filters.push({ column: c.column, not, value: value === null ? null : String(value) })
      }
  }
  return { view: 'explore', by, of, who, filters, sort: order?.direction === 'asc' ? 'of' : '' }
}

const dayLength = 86_400_000

/** intervalOf returns the interval of the graph for a range. */
export function intervalOf(range: State['range']): Interval {
  if (range === 'last24Hours' || range === 'today') return 'hour'
  if (typeof range === 'string') return 'day'
  const days = (Date.parse(range.to) - Date.parse(range.from)) / dayLength + 1
  return days <= 2 ? 'hour' : days <= 92 ? 'day' : days <= 400 ? 'week' : 'month'
}

/** rows is the largest number of rows that a list shows. */
const rows = 9
/** countries is larger than the number of countries, because the map shows all countries. */
const countries = 300

/** ask returns functions that build queries for a state. All of these queries also have the conditions in `about`. */
export function ask(s: State, about: Condition[] = []) {
  const query = (select: string[], where: Condition[]): Query => ({
    range: s.range,
    timezone: s.zone,
    select: select.map((column) => ({ column })),
    where: [...where, ...about, ...chips(s.filters)],
    ...(s.compare === 'none' ? {} : { compare: s.compare }),
  })
  const list = (column: string, metric: string, where: Condition[], limit = rows): Query => ({
    ...query([column, metric], where),
    groupBy: [{ column }],
    limit,
    count: true,
  })
  /** worst returns a query for a list that begins with the lowest values of a metric. */
  const worst = (column: string, metric: string, where: Condition[]): Query => ({
    ...list(column, metric, where),
    order: { by: { column: metric }, direction: 'asc' },
  })
  const series = (where: Condition[]): Query => {
    const time = { column: 'datetime', interval: intervalOf(s.range) }
    const one = query(['eventsCount', 'peopleCount'], where)
    return { ...one, select: [time, ...one.select], groupBy: [time], fill: true }
  }
  return { query, list, worst, series }
}

/**
 * visitors returns the metric that counts the chosen visitors. Agents have no lasting visitor ids, so their events are
 * counted.
 */
export const visitors = (s: State) => (s.who === 'people' ? 'peopleCount' : 'eventsCount')

/** queries returns the queries of the overview. */
export function queries(s: State) {
  const { query, list, worst, series } = ask(s)
  return {
    people: query(['peopleCount', 'sessionsCount', 'engagedTime', 'pageFeedbackRating'], [people]),
    views: query(['eventsCount'], opened.people),
    reads: query(['eventsCount'], opened.agents),
    peopleSeries: series(opened.people),
    agentSeries: series(opened.agents),
    pages: list('urlPath', 'eventsCount', opened[s.who]),
    sources: list('sourceName', visitors(s), [...opened[s.who], external]),
    countries: list('visitorGeoCountry', visitors(s), opened[s.who], countries),
    searches: list('eventSearchQuery', 'eventsCount', [
      ...sent[s.who],
      type('search_type_query'),
      { column: 'searchResults', values: [0] },
    ]),
    agents: list('agentOperator', 'eventsCount', opened.agents),
    feedback: worst('urlPath', 'pageFeedbackRating', [type('page_post_feedback')]),
  }
}

/** weekOf returns the queries for a row in the list of sites. */
export function weekOf(zone: Zone): Record<'people' | 'agents' | 'week', Query> {
  const range = 'last7Days'
  const one = (where: Condition[], column: string): Query => ({
    range,
    timezone: zone,
    select: [{ column }],
    where,
    compare: 'previousPeriod',
  })
  const day = { column: 'datetime', interval: 'day' }
  return {
    people: one(opened.people, 'peopleCount'),
    agents: one(opened.agents, 'eventsCount'),
    week: {
      range,
      timezone: zone,
      select: [day, { column: 'peopleCount' }],
      groupBy: [day],
      fill: true,
      where: opened.people,
    },
  }
}
