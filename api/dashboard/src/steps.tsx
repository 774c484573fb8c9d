// The lists of pages that people viewed immediately before and after a page, in the same session.
import { elsewhere } from './address'
import type { Answer, NextPage } from './api'
import { count, share } from './format'
import { Link } from './link'
import { ListCard } from './list_card'
import { keyOf } from './page_queries'
import { RowsTable, type Cell } from './rows_table'
import { lines } from './table'
import { texts } from './texts'
import { toolTexts } from './tool_texts'
import type { Shown } from './views'

const t = toolTexts.steps
const columns = 'repeat(auto-fit, minmax(min(100%, 24rem), 1fr))'

export function Steps({ results, asked, busy }: Shown) {
  const result = results?.steps
  const answer: Partial<Answer> = result?.status === 200 ? result.answer : {}
  const { views = 0, entries = 0, exits = 0, reloads = 0, from = [], to = [] } = answer
  return (
    <ListCard
      id="steps"
      title={t.title}
      about={views ? t.about(count(views), count(entries), count(exits), count(reloads)) : ''}
      query={asked.steps}
      result={result}
      busy={busy}
      none={t.none}
      rows={views}
      file={file}
    >
      <div style={{ display: 'grid', gridTemplateColumns: columns }}>
        <Side
          id="from"
          title={t.from}
          rows={from}
          all={views - entries - reloads}
          views={views}
          none={t.nothingBefore}
        />
        <Side id="to" title={t.to} rows={to} all={views - exits - reloads} views={views} none={t.nothingAfter} />
      </div>
    </ListCard>
  )
}

type SideProps = {
  id: 'from' | 'to'
  title: string
  rows: NextPage[]
  /** all is the number of views before or after the page, including views of pages that are not in rows. */
  all: number
  /** views is the number of views of the page itself. */
  views: number
  none: string
}

function Side({ id, title, rows, all, views, none }: SideProps) {
  const further = rows.reduce((left, row) => left - row.views, all)
  const cells: [Cell<NextPage>, ...Cell<NextPage>[]] = [
    { id: 'page', label: t.page, show: (row) => <Name row={row} /> },
    { id: 'views', label: texts.views, number: true, show: (row) => count(row.views) },
    { id: 'share', label: t.share, number: true, show: (row) => share(row.views / views) },
  ]
  return (
    <section data-side={id} aria-labelledby={'steps-' + id}>
      <h3 id={'steps-' + id} class="about">
        {title}
      </h3>
      {rows.length === 0 ? <p class="quiet about">{none}</p> : <RowsTable cells={cells} rows={rows} keyOf={keyOf} />}
      {further > 0 && <p class="quiet about">{t.further(count(further))}</p>}
    </section>
  )
}

function Name({ row }: { row: NextPage }) {
  const title = row.title || row.path || texts.blank
  return (
    <>
      <Link to={{ ...elsewhere, page: keyOf(row) }}>{title}</Link>
      {row.path && row.path !== title && <span class="quiet path">{row.path}</span>}
    </>
  )
}

/**
 * file returns the text of a file for spreadsheets. It has a row for each page, and rows for views without a page
 * before or after.
 */
function file({ entries, exits, reloads, from = [], to = [] }: Answer): string {
  const side = (name: string, rows: NextPage[]) =>
    rows.map((row) => [name, row.space, row.page, row.path, row.title, row.views])
  const alone = { entries, exits, reloads }
  return lines(
    ['step', 'space', 'page', 'path', 'title', 'views'],
    [
      ...Object.entries(alone).map(([name, views]) => [name, null, null, null, null, views]),
      ...side('from', from),
      ...side('to', to),
    ],
  )
}
