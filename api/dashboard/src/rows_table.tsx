// A table of rows, which is a list of cards on a phone: a row of cells is a column.
import type { ComponentChildren } from 'preact'

export type Cell<T> = {
  id: string
  label: string
  /** number says that values stand at the right. */
  number?: true
  show: (row: T) => ComponentChildren
}

export function RowsTable<T>({
  cells,
  rows,
  keyOf,
}: {
  cells: [Cell<T>, ...Cell<T>[]]
  rows: T[]
  keyOf: (row: T) => string
}) {
  const [first, ...more] = cells
  return (
    <table>
      <thead>
        <tr>
          {cells.map((c) => (
            <th key={c.id} scope="col" class={c.number ? 'number' : ''}>
              {c.label || <span class="hidden">{c.id}</span>}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={keyOf(row)}>
            <th scope="row">{first.show(row)}</th>
            {more.map((c) => (
              <td key={c.id} class={c.number ? 'number' : ''} data-label={c.label || undefined} data-cell={c.id}>
                {c.show(row)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}
