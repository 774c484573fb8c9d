// The page begins here.
import { render } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { go, state, write } from './address'
import { call, type Site } from './api'
import { Help, helpShown } from './help'
import { useKeys } from './keys'
import { session } from './load'
import { Overview } from './overview'
import { arrive, signOut } from './session'
import { Mark, SignIn } from './sign_in'
import { Sites } from './sites'
import { texts } from './texts'
import './style.css'

/** useTitle returns the title of the site, after the figures: they are worth more. */
function useTitle(org: string, site: string): string {
  const [title, set] = useState('')
  useEffect(() => {
    set('')
    if (!site) return
    const abort = new AbortController()
    call<Site>(`v1/orgs/${encodeURIComponent(org)}/sites/${encodeURIComponent(site)}`, { signal: abort.signal })
      .then((found) => set(found.title), () => set(''))
    return () => abort.abort()
  }, [org, site])
  return title
}

function Header() {
  const { org, site } = state.value
  const title = useTitle(org, site)
  useEffect(() => {
    document.title = (site ? title : texts.sites) + (site && !title ? '' : ' · ') + texts.name
  }, [site, title])
  const toSites = { ...state.value, org: '', site: '', filters: [] }
  return (
    <header class="top">
      <a class="skip" href="#main">{texts.skip}</a>
      <nav aria-label={texts.name}>
        <a href={write(toSites)} onClick={(event) => {
          event.preventDefault()
          go(toSites)
        }}><Mark /><span>{site ? texts.sites : texts.name}</span></a>
        {site && <><span aria-hidden="true" class="quiet">/</span><h1>{title || '…'}</h1></>}
      </nav>
      <button type="button" class="plain" onClick={() => (helpShown.value = true)}>{texts.help} <kbd>?</kbd></button>
      <button type="button" class="plain" onClick={() => void signOut()}>{texts.signOut}</button>
    </header>
  )
}

function App({ problem }: { problem: string | undefined }) {
  useKeys({
    '?': () => (helpShown.value = true),
    s: () => session.value === 'in' && go({ org: '', site: '', filters: [] }),
  })
  if (session.value !== 'in') return <SignIn problem={problem} />
  return (
    <>
      <Header />
      {state.value.site ? <Overview key={state.value.site} /> : <Sites />}
      <Help />
    </>
  )
}

async function begin() {
  const problem = await arrive()
  state.value = { ...state.peek() }
  if (problem) session.value = 'out'
  render(<App problem={problem} />, document.body)
}

void begin()
