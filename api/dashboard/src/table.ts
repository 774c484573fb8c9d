// Figures for other programs: a file for spreadsheets, and a command for a shell.
import { address, insights, type Answer, type AnyQuery, type PageRow } from './api'

/**
 * cell formats a value for a spreadsheet. Visitors choose titles and searches, so cell makes sure that no program reads
 * a text as a formula.
 */
export function cell(value: unknown): string {
  let text =
    value === null || value === undefined ? '' : typeof value === 'object' ? JSON.stringify(value) : String(value)
  if (typeof value !== 'number' && /^[=+\-@\t\r\n]/.test(text)) text = "'" + text
  return /[",\r\n]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text
}

/** csv returns the columns of an answer, followed by the columns of the previous range. */
export function csv(answer: Answer): string {
  const before = (answer.compare?.columns ?? []).map((c) => ({ ...c, column: c.column + ' before' }))
  const columns = [...answer.columns, ...before]
  return lines(
    columns.map((c) => c.column),
    columns[0]?.values.map((_, i) => columns.map((c) => c.values[i])) ?? [],
  )
}

/** pagesCSV returns a list of pages. Each row has the known facts about a page, and its metrics. */
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

/** lines writes rows for a spreadsheet. */
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
 * curl returns a command that sends the same request. Within single quotes, a shell changes no character. Only the
 * single quote itself needs an escape.
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
