// The view of a single page: its readers, the pages before and after it, and its searches, links and feedback.
import { useEffect, useState } from 'preact/hooks'
import { elsewhere, state } from './address'
import { call, type PageRow, type Results } from './api'
import { Figures } from './figures'
import { date } from './format'
import { Link } from './link'
import { moreTexts } from './more_texts'
import { texts } from './texts'
import { onePage } from './more_views'

export function OnePage() {
  return <Figures view={onePage} head={(results) => <Head results={results} />} />
}

type Known = Pick<PageRow, 'title' | 'path'> & Partial<PageRow>

/**
 * useKnown returns the page's row in the list of pages. A page without events has no row there, so useKnown reads the
 * page itself.
 */
function useKnown(results: Results | undefined): Known | undefined {
  const { page } = state.value
  const row = results?.page?.answer.items?.[0]
  const missing = results !== undefined && !row && !page.startsWith('/')
  const [found, set] = useState<Known | undefined>(undefined)
  useEffect(() => {
    if (!missing) return
    const [space = '', id = ''] = page.split('/')
    const abort = new AbortController()
    call<Known>(`v1/spaces/${encodeURIComponent(space)}/content/page/${encodeURIComponent(id)}`, {
      signal: abort.signal,
    }).then(set, () => set(undefined)) // tokens for insights may not read content
    return () => abort.abort()
  }, [missing, page])
  return row ?? found
}

function Head({ results }: { results: Results | undefined }) {
  const { page } = state.value
  const known = useKnown(results)
  const path = known?.path ?? (page.startsWith('/') ? page : '')
  const title = known?.title || path || (results ? moreTexts.untitled : '…')
  return (
    <div class="page-head">
      <Link to={elsewhere} class="quiet">
        ← {texts.viewNames.pages}
      </Link>
      <h2>{title}</h2>
      <p class="quiet">
        {path && path !== title && <span>{path}</span>}
        {known?.editedAt && <span>{moreTexts.editedBy(date(known.editedAt), known.owner?.displayName)}</span>}
        {known?.kind === 'removed' && <span class="mark-removed">{moreTexts.removed}</span>}
      </p>
    </div>
  )
}
