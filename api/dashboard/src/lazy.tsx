// Pages that are in a second file of the bundle. The file is loaded when the reader opens the first of these pages.
import { signal } from '@preact/signals'
import { useEffect, useMemo } from 'preact/hooks'
import { state } from './address'
import { address, Refusal } from './api'
import { Loader } from './load'
import { Skeleton } from './panel'
import { Trouble } from './parts'
import { texts } from './texts'
import { Toolbar } from './toolbar'

const more = signal<typeof import('./more') | undefined>(undefined)
let told = false

/**
 * come loads the file. If the node was upgraded after the page was loaded, the file has another name. The page knows
 * this name only after a reload.
 */
async function come(abort: AbortSignal) {
  try {
    more.value = await import('./more')
  } catch (fault) {
    const page = await fetch(address(''), { cache: 'no-store', signal: abort }).catch(() => {
      throw new Refusal(0, String(fault))
    })
    if (!page.ok) throw new Refusal(page.status, String(fault))
    // After a failure to load a file, some browsers load it again only after the page is reloaded. So reload the page
    // once. If the file is then still missing, the reader decides when to try again.
    const loaded = performance.getEntriesByType('navigation')[0] as PerformanceNavigationTiming | undefined
    if (!told && loaded?.type === 'reload') {
      told = true
      throw new Refusal(-1, String(fault))
    }
    location.reload()
    await new Promise(() => {})
  }
}

/**
 * Lazy shows a view, the list of sites, or the page of a share link. Until the file is loaded, it shows a placeholder.
 */
export function Lazy({ page }: { page: 'Views' | 'Sites' | 'OpenShare' }) {
  const Page = more.value?.[page]
  return Page ? <Page /> : <Waiting range={page === 'Views' && !still.includes(state.value.view)} />
}

/** still has the views that have no range. */
const still: string[] = ['live', 'health', 'settings']

function Waiting({ range }: { range: boolean }) {
  const loader = useMemo(() => new Loader(() => ({ key: '', load: come })), [])
  useEffect(() => () => loader.end(), [])
  const load = loader.now.value
  return (
    <main id="main" aria-busy={load.busy}>
      {range && <Toolbar whose={!['agents', 'broken'].includes(state.value.view)} />}
      <Trouble load={load} again={() => loader.again()} />
      {load.busy && (
        <section class="card panel">
          <header>
            <span role="status" class="quiet">
              {texts.loading}
            </span>
          </header>
          <Skeleton />
        </section>
      )}
    </main>
  )
}
