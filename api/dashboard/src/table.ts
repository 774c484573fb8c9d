// Functions that write figures as a file for spreadsheets, and a query as a shell command.
import { address, insights, type Answer, type AnyQuery, type PageRow } from './api'

/**
 * cell formats a value for a file for spreadsheets. Titles and searches come from visitors, so cell changes a text that
 * a spreadsheet program would read as a formula.
 */
export function cell(value: unknown): string {
  let text =
    value === null || value === undefined ? '' : typeof value === 'object' ? JSON.stringify(value) : String(value)
  if (typeof value !== 'number' && /^[=+\-@\t\r\n]/.test(text)) text = "'" + text
  return /[",\r\n]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text
}

/** csv returns an answer as the text of a file: its columns, and then the columns of the compared range. */
export function csv(answer: Answer): string {
  const before = (answer.compare?.columns ?? []).map((c) => ({ ...c, column: c.column + ' before' }))
  const columns = [...answer.columns, ...before]
  return lines(
    columns.map((c) => c.column),
    columns[0]?.values.map((_, i) => columns.map((c) => c.values[i])) ?? [],
  )
}

/** pagesCSV returns a list of pages as the text of a file. Each row has the data of a page, and its metrics. */
export function pagesCSV(rows: PageRow[]): string {
  const metrics = Object.keys(rows[0]?.metrics ?? {})
  return lines(
    ['kind', 'space', 'page', 'path', 'title', 'owner', 'editedAt', 'words', ...metrics],
    rows.map((r) => [
      r.kind,
      r.space,
      r.page,
      r.path,
      r.title,
      r.owner?.displayName,
      r.editedAt,
      r.words,
      ...metrics.map((m) => r.metrics[m]),
    ]),
  )
}

/** lines returns a heading and rows as the text of a file for spreadsheets. */
export const lines = (heads: string[], rows: unknown[][]) =>
  [heads, ...rows].map((row) => row.map(cell).join(',') + '\r\n').join('')

export function download(name: string, text: string) {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(new Blob(['\ufeff' + text], { type: 'text/csv' }))
  link.download = name
  link.click()
  URL.revokeObjectURL(link.href)
}

/**
 * curl returns a shell command that sends a query to the API. Its texts are in single quotes, in which a shell changes
 * no character. So only single quotes are escaped.
 */
export function curl(org: string, site: string, query: AnyQuery): string {
  const { report = 'aggregate', ...body } = { report: undefined, ...query }
  const quoted = (text: string) => "'" + text.replaceAll("'", `'\\''`) + "'"
  return [
    'curl -s ' + quoted(address(insights(org, site) + (report === 'pages' ? '/pages' : '/events/' + report))),
    '-H "Authorization: Bearer $OCTAVO_TOKEN"',
    "-H 'Content-Type: application/json'",
    '-d ' + quoted(JSON.stringify(body)),
  ].join(' \\\n  ')
}
