// Functions that call the public API. The browser sends the session's cookie automatically. Scripts cannot read this
// cookie.
import { siteZones, type Days, type Zone } from './address'
import { pass } from './share'

/** base is the server's address. The bundle is at o/app.….js below it. */
const base = new URL('..', import.meta.url)
export const address = (path: string) => new URL(path, base).href

/** Refusal is the error of a call. Its status is the status of the answer, or 0 if there was no answer. */
export class Refusal extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly retryAfter = 0,
  ) {
    super(message)
  }
}

type Call = { method?: string; body?: unknown; token?: string; signal?: AbortSignal }

export async function call<T>(path: string, c: Call = {}): Promise<T> {
  const headers: Record<string, string> = { 'Octavo-Browser': '1' }
  if (c.body !== undefined) headers['Content-Type'] = 'application/json'
  const token = c.token ?? pass.peek()?.token
  if (token) headers['Authorization'] = 'Bearer ' + token
  const init: RequestInit = { method: c.method ?? 'GET', headers, cache: 'no-store' }
  if (c.body !== undefined) init.body = JSON.stringify(c.body)
  if (c.signal) init.signal = c.signal
  let response: Response
  try {
    response = await fetch(address(path), init)
  } catch (fault) {
    if (c.signal?.aborted) throw fault
    throw new Refusal(0, String(fault))
  }
  const text = await response.text()
  if (!response.ok) {
    let message = response.statusText
    try {
      message = (JSON.parse(text) as { error: { message: string } }).error.message
    } catch {
      // the answer of a proxy may not be JSON
    }
    throw new Refusal(response.status, message, Number(response.headers.get('Retry-After')) || 0)
  }
  return (text ? JSON.parse(text) : undefined) as T
}

/** Condition is an entry of a query's member `where`. */
export type Condition =
  | {
      column: string
      operator?: string
      values: (string | number | boolean | null | { space?: string; page: string | null })[]
    }
  | { or: Condition[] }
type Select = { column: string; interval?: string }

/** Query is the body of a request to …/insights/events/aggregate. */
export type Query = {
  range: string | { from: string; to: string }
  timezone: Zone
  select: Select[]
  groupBy?: Select[]
  where: Condition[]
  order?: { by: Select; direction: 'asc' | 'desc' }
  limit?: number
  fill?: boolean
  count?: boolean
  compare?: string
}

/** PagesQuery is the body of a request to …/insights/pages. In a batch, it also has the name of its report. */
export type PagesQuery = Pick<Query, 'range' | 'timezone' | 'select' | 'where' | 'order' | 'limit'> & {
  report: 'pages'
  neverRead?: boolean
  kinds?: string[]
  spaces?: string[]
  notEditedSince?: string
}

/** FunnelQuery is the body of a request to …/insights/events/funnel, and RetentionQuery to …/events/retention. */
type Scope = Pick<Query, 'range' | 'timezone' | 'where'>
export type FunnelQuery = Scope & { report: 'funnel'; steps: { where: Condition[] }[] }
export type RetentionQuery = Scope & { report: 'retention'; interval: string; periods: number }

/** StepsQuery is the body of a request to …/insights/events/transitions. */
export type StepsQuery = Scope & { report: 'transitions'; page: { space: string; page: string } | { path: string } }
export type AnyQuery = Query | PagesQuery | FunnelQuery | RetentionQuery | StepsQuery

/** PageRow is a row of the list of pages. */
export type PageRow = {
  kind: 'current' | 'removed' | 'path'
  space: string | null
  page: string | null
  path: string | null
  title: string | null
  owner: { displayName: string } | null
  editedAt: string | null
  words: number | null
  metrics: Record<string, unknown>
}

/** NextPage is a page that readers viewed immediately before or immediately after another page. */
export type NextPage = Pick<PageRow, 'space' | 'page' | 'path' | 'title'> & { views: number }

export type Columns = { column: string; values: unknown[] }[]
export type Answer = {
  columns: Columns
  compare?: { range: Days; columns: Columns }
  rowsTotal?: number
  steps?: { count: number; conversion: number | null; conversionFromPrevious: number | null }[]
  cohorts?: { start: string; visitors: number; returned: number[] }[]
  /**
   * items has the rows of a list of pages. count is the number of all rows of the list, including rows that are not in
   * items.
   */
  items?: PageRow[]
  count?: number
  /** These members are in the answer to a StepsQuery. */
  views?: number
  entries?: number
  exits?: number
  reloads?: number
  from?: NextPage[]
  to?: NextPage[]
}

/**
 * Result is the answer to one query of a batch. If the query failed, it has the status and the message of the error.
 */
export type Result = {
  status: number
  headers: Record<string, string>
  answer: Answer & { error?: { message: string } }
}

export const insights = (org: string, site: string) =>
  `v1/orgs/${encodeURIComponent(org)}/sites/${encodeURIComponent(site)}/insights`

export type Results = Record<string, Result>

/** batch sends several queries in one request. Each query has a name, under which the results have its answer. */
export async function batch(
  org: string,
  site: string,
  queries: Record<string, AnyQuery>,
  signal?: AbortSignal,
): Promise<Results> {
  const c: Call = { method: 'POST', body: { queries } }
  if (signal) c.signal = signal
  const answer = await call<{ timezone: string; queries: Results }>(insights(org, site) + '/batch', c)
  siteZones[site] = answer.timezone
  return answer.queries
}

type List<T> = { items: T[]; next?: { page: string } }

/** all reads a list completely, page by page. */
export async function all<T>(path: string): Promise<T[]> {
  const items: T[] = []
  for (let page = ''; ; ) {
    const list = await call<List<T>>(path + '?limit=1000' + (page && '&page=' + encodeURIComponent(page)))
    items.push(...list.items)
    if (!list.next) return items
    page = list.next.page
  }
}

export type Site = { id: string; title: string }
export type Organization = { id: string; title: string }
