// Queries of the list of pages. The table listings describes each tab of the list.
import type { State, Tab } from './address'
import type { Condition, PageRow, PagesQuery } from './api'
import { chips, opened, type } from './queries'
import { keyOf } from './page_queries'

/** Column is a column of the list of pages: a member of PageRow, or a metric. */
export type Column = 'title' | 'owner' | 'editedAt' | 'words' | 'eventsCount' | 'peopleCount' | 'pageFeedbackRating'

/** sortable reports whether the API can sort a tab's rows by a column. */
export const sortable = (tab: Tab, column: Column) =>
  column !== 'owner' && !(tab === 'agents' && column !== 'eventsCount')

type Listing = {
  columns: (s: State) => Column[]
  /**
   * sort is the column by which the rows are sorted by default. A minus sign before the column means descending order.
   */
  sort: string
  more: (s: State, now: number) => Partial<PagesQuery>
}

const day = 86_400_000
/** staleAfter is the number of days without an edit after which a page is stale. */
export const staleAfter = 180

const counted = (s: State): Column[] => (s.who === 'people' ? ['eventsCount', 'peopleCount'] : ['eventsCount'])

export const listings: Record<Tab, Listing> = {
  read: {
    columns: (s) => [...counted(s), 'editedAt', 'owner'],
    sort: '-eventsCount',
    more: (s) => ({ where: opened[s.who], neverRead: false }),
  },
  never: {
    columns: () => ['editedAt', 'words', 'owner'],
    sort: 'editedAt',
    more: (s) => ({ where: opened[s.who], neverRead: true, kinds: ['current'] }),
  },
  stale: {
    columns: (s) => [...counted(s), 'editedAt', 'owner'],
    sort: '-eventsCount',
    more: (s, now) => ({
      where: opened[s.who],
      neverRead: false,
      kinds: ['current'],
      // The time is rounded down to a whole day. So the query stays the same for a day, and can be answered from a
      // cache.
      notEditedSince: new Date(now - (now % day) - staleAfter * day).toISOString(),
    }),
  },
  agents: {
    columns: () => ['eventsCount', 'editedAt', 'owner'],
    sort: '-eventsCount',
    more: () => ({ where: opened.agents, neverRead: false }),
  },
  rated: {
    columns: () => ['pageFeedbackRating', 'editedAt', 'owner'],
    sort: 'pageFeedbackRating',
    more: () => ({ where: [type('page_post_feedback')], neverRead: false }),
  },
}

/** sortOf returns the column by which the rows are sorted, with a minus sign for descending order. */
export const sortOf = (s: State) => s.sort || listings[s.tab].sort

/** listQuery returns a query for at most `limit` pages of a tab. */
export function listQuery(s: State, limit: number, now = Date.now()): PagesQuery {
  const listing = listings[s.tab]
  const more = listing.more(s, now)
  const metrics = listing.columns(s).filter((c) => c.endsWith('Count') || c.endsWith('Rating'))
  const sort = sortOf(s)
  return {
    report: 'pages',
    range: s.range,
    timezone: s.zone,
    select: (metrics.length ? metrics : ['eventsCount']).map((column) => ({ column })),
    order: { by: { column: sort.replace('-', '') }, direction: sort.startsWith('-') ? 'desc' : 'asc' },
    limit,
    ...more,
    where: [...(more.where ?? []), ...chips(s.filters)],
  }
}

/** known returns a query for the number of pages in the site's spaces. */
export const known = (s: State): PagesQuery => ({
  report: 'pages',
  range: s.range,
  timezone: s.zone,
  select: [{ column: 'eventsCount' }],
  where: [],
  kinds: ['current'],
  limit: 1,
})

/** readBy returns a query for those of the given pages that people have opened. */
export function readBy(s: State, rows: PageRow[]): PagesQuery {
  const pages = rows.flatMap((r) => (r.page ? [{ space: r.space ?? '', page: r.page }] : []))
  const paths = rows.flatMap((r) => (r.page ? [] : [keyOf(r), keyOf(r) + '/']))
  const among: Condition[] = []
  if (pages.length) among.push({ column: 'page', values: pages })
  if (paths.length) among.push({ column: 'urlPath', values: paths })
  return {
    report: 'pages',
    range: s.range,
    timezone: s.zone,
    select: [{ column: 'eventsCount' }],
    where: [...opened.people, { or: among }, ...chips(s.filters)],
    neverRead: false,
    limit: 1000,
  }
}
