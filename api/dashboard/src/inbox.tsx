// The list of readers' comments, the newest comment first.
import { useEffect } from 'preact/hooks'
import { elsewhere } from './address'
import type { Columns } from './api'
import { comments, firstComments, mostComments } from './feedback_queries'
import { clock, count } from './format'
import { Link } from './link'
import { ListCard } from './list_card'
import { trimmed } from './panel'
import { plain } from './panels'
import { titles } from './rows'
import { RowsTable, type Cell } from './rows_table'
import { texts } from './texts'
import { toolTexts } from './tool_texts'
import type { Shown } from './views'

type Comment = { text: string; path: string | null; last: string | null; times: number }

const t = toolTexts.inbox

function read(columns: Columns): Comment[] {
  const at = (name: string): unknown[] => columns.find((c) => c.column === name)?.values ?? []
  const [paths, last, times] = [at('urlPath'), at('datetime'), at('eventsCount')]
  return at('eventPageFeedbackComment').map((text, i) => ({
    text: String(text ?? ''),
    path: (paths[i] ?? null) as string | null,
    last: (last[i] ?? null) as string | null,
    times: Number(times[i] ?? 0),
  }))
}

const cellsWith = (names: ReturnType<typeof titles>): [Cell<Comment>, ...Cell<Comment>[]] => [
  { id: 'text', label: t.comment, show: ({ text }) => <span class="said">{plain(text)}</span> },
  {
    id: 'page',
    label: t.page,
    show: ({ path }) =>
      path ? (
        <>
          <Link to={{ ...elsewhere, view: 'pages', page: trimmed(path) }}>{names.get(path) ?? path}</Link>
          {names.has(path) && <span class="quiet path">{path}</span>}
        </>
      ) : (
        texts.none
      ),
  },
  { id: 'times', label: t.times, number: true, show: ({ times }) => count(times) },
  { id: 'last', label: t.last, number: true, show: ({ last }) => (last ? clock(last) : texts.none) },
]

export function Inbox({ results, asked, busy }: Shown) {
  useEffect(() => () => void (comments.value = firstComments), [])
  const result = results?.inbox
  const rows = result?.status === 200 ? read(result.answer.columns) : []
  const all = result?.answer.rowsTotal ?? rows.length
  return (
    <ListCard
      id="inbox"
      title={t.title}
      query={asked.inbox}
      result={result}
      busy={busy}
      none={t.none}
      rows={rows.length}
    >
      <RowsTable cells={cellsWith(titles(results?.titles))} rows={rows} keyOf={(c) => c.path + '\n' + c.text} />
      {all > rows.length && (
        <p class="quiet more">
          {texts.more(count(rows.length), count(all))}
          {rows.length < mostComments && (
            <button type="button" class="small" onClick={() => (comments.value = mostComments)}>
              {t.more}
            </button>
          )}
        </p>
      )}
    </ListCard>
  )
}
