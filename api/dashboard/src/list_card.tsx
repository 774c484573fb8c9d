// A card with a table, its heading, and a menu of actions on its figures. If there are no rows, the card shows a text.
import type { ComponentChildren } from 'preact'
import { state } from './address'
import type { Answer, AnyQuery, Result } from './api'
import { Exactness, Menu, Skeleton } from './panel'
import { curl, csv } from './table'
import { texts } from './texts'

export function ListCard({
  id,
  title,
  about,
  query,
  result,
  busy,
  none,
  rows,
  file = (answer) => csv(answer),
  children,
}: {
  id: string
  title: string
  about?: string
  query: AnyQuery | undefined
  result: Result | undefined
  busy: boolean
  /** none is the text that the card shows if there are no rows. */
  none: string
  rows: number
  /** file returns the answer as the text of a file for spreadsheets. */
  file?: (answer: Answer) => string
  children: ComponentChildren
}) {
  const { org, site } = state.value
  return (
    <section class="card list" aria-labelledby={'list-' + id} data-panel={id}>
      <header>
        <h2 id={'list-' + id}>{title}</h2>
        <Exactness result={result} />
        {query && result?.status === 200 && (
          <Menu title={title} name={id} command={curl(org, site, query)} file={() => file(result.answer)} />
        )}
      </header>
      {about && <p class="quiet about">{about}</p>}
      {!result ? (
        busy && <Skeleton />
      ) : result.status !== 200 ? (
        <p class="quiet none">
          {texts.panelFailed} {result.answer.error?.message}
        </p>
      ) : rows === 0 ? (
        <p class="quiet none">{none}</p>
      ) : (
        children
      )}
    </section>
  )
}
