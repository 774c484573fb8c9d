// A table of rows. On a phone, it is shown as a list of cards. Each entry of `cells` describes a column.
import type { ComponentChildren } from 'preact'
import { go } from './address'
import { texts } from './texts'

export type Cell<T> = {
  id: string
  label: string
  /** number means that the values of the column are aligned to the right. */
  number?: true
  /**
   * sorts means that the rows can be sorted by the column. The first press of the heading sorts in descending order.
   */
  sorts?: true
  show: (row: T) => ComponentChildren
}

/**
 * SortHeading is the heading of a column by which rows can be sorted. The first press sorts in the order `begin`, and
 * each further press reverses the order.
 */
export function SortHeading(h: { id: string; text: string; number: boolean; sort: string; begin: string }) {
  const down = h.sort === '-' + h.id
  const sorted = down ? 'descending' : h.sort === h.id ? 'ascending' : 'none'
  const turned = down ? h.id : '-' + h.id
  return (
    <th scope="col" aria-sort={sorted} class={h.number ? 'number' : ''}>
      <button
        type="button"
        class="plain"
        title={texts.sort(h.text)}
        onClick={() => go({ sort: sorted === 'none' ? h.begin : turned })}
      >
        {h.text}
        {sorted !== 'none' && <span aria-hidden="true"> {down ? '↓' : '↑'}</span>}
      </button>
    </th>
  )
}

export function RowsTable<T>({
  cells,
  rows,
  keyOf,
  sort = '',
}: {
  cells: [Cell<T>, ...Cell<T>[]]
  rows: T[]
  keyOf: (row: T) => string
  /** sort is the id of the column by which the rows are sorted. A minus sign before the id means descending order. */
  sort?: string
}) {
  const [first, ...more] = cells
  return (
    <table>
      <thead>
        <tr>
          {cells.map((c) =>
            c.sorts ? (
              <SortHeading key={c.id} id={c.id} text={c.label} number={!!c.number} sort={sort} begin={'-' + c.id} />
            ) : (
              <th key={c.id} scope="col" class={c.number ? 'number' : ''}>
                {c.label || <span class="hidden">{c.id}</span>}
              </th>
            ),
          )}
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
