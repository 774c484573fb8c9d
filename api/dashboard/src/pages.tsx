// The list of a site's pages. Its tabs have the pages that were read, were never read, are stale but read, were read
// only by agents, and have low ratings.
import { useEffect, useMemo } from 'preact/hooks'
import { signal } from '@preact/signals'
import { elsewhere, go, state, tabs, type State } from './address'
import { batch, type PageRow, type PagesQuery, type Result, type Results } from './api'
import { count, date } from './format'
import { Status, useRangeKeys } from './figures'
import { Link } from './link'
import { known, listings, listQuery, readBy, sortable, sortOf, type Column } from './list_queries'
import { Loader } from './load'
import { keyOf } from './page_queries'
import { Exactness, Menu, Skeleton } from './panel'
import { Rated } from './panels'
import { Choice, Trouble } from './parts'
import { chips, explored, opened, visitors } from './queries'
import type { Ratings } from './rows'
import { SortHeading } from './rows_table'
import { curl, pagesCSV } from './table'
import { moreTexts } from './more_texts'
import { texts } from './texts'
import { Chips, Toolbar } from './toolbar'

const first = 50
const mostPages = 1000
/** agentPages is the number of pages read by agents that the page compares with the pages read by people. */
const agentPages = 200
const limit = signal(first)

/**
 * Loaded has the rows of a tab. all is the number of all rows of the tab. If the tab `never` has no rows, all is the
 * number of pages in the site's spaces.
 */
type Loaded = { results: Results; asked: PagesQuery; rows: PageRow[]; all: number }

/**
 * load queries the rows of a tab. For the tab of pages that only agents read, it queries the pages that agents read,
 * and removes the pages that people also read.
 */
async function load(s: State, size: number, abort: AbortSignal): Promise<Loaded> {
  const asked = listQuery(s, s.tab === 'agents' ? agentPages : size)
  const results = await batch(s.org, s.site, { list: asked }, abort)
  const items = results.list?.answer.items ?? []
  if (s.tab === 'never' && results.list?.status === 200 && items.length === 0) {
    const { pages } = await batch(s.org, s.site, { pages: known(s) }, abort)
    return { results: { ...results, pages: pages as Result }, asked, rows: [], all: pages?.answer.count ?? 0 }
  }
  if (s.tab !== 'agents' || items.length === 0)
    return { results, asked, rows: items, all: results.list?.answer.count ?? 0 }
  const { people } = await batch(s.org, s.site, { people: readBy(s, items) }, abort)
  if (people?.status !== 200) return { results: { list: people as Result }, asked, rows: [], all: 0 }
  const read = new Set((people.answer.items ?? []).map(keyOf))
  const rows = items.filter((row) => !read.has(keyOf(row)))
  return { results: { ...results, people }, asked, rows, all: rows.length }
}

export function Pages() {
  const loader = useMemo(
    () =>
      new Loader<Loaded>(() => {
        const s = state.value
        const size = limit.value
        return { key: [s.org, s.site, s.tab].join(' '), load: (abort) => load(s, size, abort) }
      }),
    [],
  )
  useEffect(
    () => () => {
      loader.end()
      limit.value = first
    },
    [],
  )
  const s = state.value
  const now = loader.now.value
  useRangeKeys(() => loader.again())
  return (
    <main id="main" aria-busy={now.busy} class={now.busy && now.value ? 'reloading' : ''}>
      <Toolbar compared={false} />
      <Chips />
      <Trouble load={now} again={() => loader.again()} />
      <List s={s} loaded={now.value} busy={now.busy} />
      <Status results={now.value?.results} busy={now.busy} again={() => loader.again()} />
    </main>
  )
}

function List({ s, loaded, busy }: { s: State; loaded: Loaded | undefined; busy: boolean }) {
  const result = loaded?.results.list
  const rows = loaded?.rows ?? []
  return (
    <section class="card list" aria-labelledby="list-title" data-panel="list">
      <header>
        <h2 id="list-title" class="hidden">
          {moreTexts.list}
        </h2>
        <Choice
          label={moreTexts.tabsOf}
          value={s.tab}
          options={tabs.map((id) => [id, moreTexts.tabs[id]] as const)}
          choose={(tab) => {
            limit.value = first
            go({ tab, sort: '' })
          }}
        />
        <Exactness result={result} />
        {loaded && result?.status === 200 && (
          <Menu
            title={moreTexts.list}
            name={'pages-' + s.tab}
            command={curl(s.org, s.site, loaded.asked)}
            file={() => pagesCSV(rows)}
          />
        )}
      </header>
      <p class="quiet about">
        {moreTexts.tabHints[s.tab]}
        {s.tab === 'agents' && rows.length > 0 && ' ' + moreTexts.ofMost(count(agentPages))}
        {s.tab === 'read' && rows.length > 0 && [' ', <Link to={lost(s)}>{moreTexts.changed}</Link>]}
      </p>
      {!result ? (
        busy && <Skeleton />
      ) : result.status !== 200 ? (
        <p class="quiet none">
          {texts.panelFailed} {result.answer.error?.message}
        </p>
      ) : rows.length === 0 ? (
        <p class="quiet none">
          {s.tab === 'never' && loaded?.all ? moreTexts.allOpened(count(loaded.all)) : moreTexts.noPages[s.tab]}
        </p>
      ) : (
        <Table s={s} rows={rows} />
      )}
      {loaded && rows.length > 0 && (
        <p class="quiet more">
          {moreTexts.pagesShown(count(rows.length), count(loaded.all))}
          {rows.length < loaded.all && rows.length < mostPages && (
            <button type="button" class="small" onClick={() => (limit.value = Math.min(mostPages, 4 * limit.value))}>
              {moreTexts.morePages}
            </button>
          )}
        </p>
      )}
    </section>
  )
}

/** lost returns a state in which the view explore shows all pages, beginning with those that have lost most readers. */
const lost = (s: State): Partial<State> => ({
  ...explored({
    range: s.range,
    timezone: s.zone,
    select: [{ column: 'urlPath' }, { column: visitors(s) }],
    groupBy: [{ column: 'urlPath' }],
    where: [...opened[s.who], ...chips(s.filters)],
  }),
  sort: 'difference',
  compare: s.compare === 'none' ? 'previousPeriod' : s.compare,
})

const isNumber = (column: Column) => !['title', 'owner'].includes(column)

function Table({ s, rows }: { s: State; rows: PageRow[] }) {
  const columns: Column[] = ['title', ...listings[s.tab].columns(s)]
  return (
    <table>
      <thead>
        <tr>
          {columns.map((c) => (
            <Heading key={c} s={s} column={c} />
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={keyOf(row)}>
            {columns.map((c) =>
              c === 'title' ? (
                <th key={c} scope="row">
                  <Title row={row} />
                </th>
              ) : (
                <td key={c} class={isNumber(c) ? 'number' : 'quiet'} data-label={label(s, c)}>
                  {cellOf(row, c)}
                </td>
              ),
            )}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

/** label returns the heading of a column. It says that agents "read" pages, and that people "view" them. */
const label = (s: State, column: Column) =>
  column === 'eventsCount' && (s.tab === 'agents' || s.who === 'agents')
    ? texts.total.reads
    : moreTexts.pageColumns[column]

function Heading({ s, column }: { s: State; column: Column }) {
  const text = label(s, column)
  const number = isNumber(column)
  if (!sortable(s.tab, column))
    return (
      <th scope="col" class={number ? 'number' : ''}>
        {text}
      </th>
    )
  // The first press sorts numbers in descending order, and texts and times in ascending order.
  const begin = column.endsWith('Count') || column === 'words' ? '-' + column : column
  return <SortHeading id={column} text={text} number={number} sort={sortOf(s)} begin={begin} />
}

function Title({ row }: { row: PageRow }) {
  const title = row.title || row.path || moreTexts.untitled
  return (
    <>
      <Link to={{ ...elsewhere, page: keyOf(row) }}>{title}</Link>
      {row.kind === 'removed' && <span class="mark-removed">{moreTexts.removed}</span>}
      {row.path && row.path !== title && <span class="quiet path">{row.path}</span>}
    </>
  )
}

function cellOf(row: PageRow, column: Column) {
  switch (column) {
    case 'owner':
      return row.owner?.displayName ?? texts.none
    case 'editedAt':
      return row.editedAt ? date(row.editedAt) : texts.none
    case 'words':
      return row.words === null ? texts.none : count(row.words)
    case 'pageFeedbackRating':
      return <Rated ratings={row.metrics[column] as Ratings} />
    default:
      return count(Number(row.metrics[column] ?? 0))
  }
}
