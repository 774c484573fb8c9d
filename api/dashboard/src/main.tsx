// The entry point of the page. It shows the view that the address names.
import { render } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { elsewhere, go, state, unshared, views, type State, type ViewName } from './address'
import { call, type Site } from './api'
import { Help, helpShown } from './help'
import { useKeys } from './keys'
import { session } from './load'
import { Figures } from './figures'
import { Link } from './link'
import { Lazy } from './lazy'
import { arrive, signOut } from './session'
import { pass, rangesOf, secret } from './share'
import { Mark, SignIn } from './sign_in'
import { texts } from './texts'
import { overview } from './views'
import './style.css'

/** useTitle loads the title of the site. It returns an empty text until the title has arrived. */
function useTitle(org: string, site: string): string {
  const [title, set] = useState('')
  useEffect(() => {
    set('')
    if (!site || pass.peek()) return
    const abort = new AbortController()
    call<Site>(`v1/orgs/${encodeURIComponent(org)}/sites/${encodeURIComponent(site)}`, { signal: abort.signal }).then(
      (found) => set(found.title),
      () => set(''),
    )
    return () => abort.abort()
  }, [org, site])
  return pass.value?.title ?? title
}

function Header() {
  const { org, site } = state.value
  const title = useTitle(org, site)
  useEffect(() => {
    document.title = (site ? title : texts.sites) + (site && !title ? '' : ' · ') + texts.name
  }, [site, title])
  return (
    <header class="top">
      <a class="skip" href="#main">
        {texts.skip}
      </a>
      <nav aria-label={texts.name}>
        {pass.value ? (
          <>
            <Mark />
            <span class="quiet">{texts.shared(rangesOf(pass.value.ranges))}</span>
          </>
        ) : (
          <Link to={toSites}>
            <Mark />
            <span>{site ? texts.sites : texts.name}</span>
          </Link>
        )}
        {site && (
          <>
            <span aria-hidden="true" class="quiet">
              /
            </span>
            <h1>{title || '…'}</h1>
          </>
        )}
      </nav>
      <button type="button" class="plain" onClick={() => (helpShown.value = true)}>
        {texts.help} <kbd>?</kbd>
      </button>
      {!pass.value && (
        <button type="button" class="plain" onClick={() => void signOut()}>
          {texts.signOut}
        </button>
      )}
    </header>
  )
}

const toSites = { ...elsewhere, org: '', site: '', view: 'overview' } satisfies Partial<State>

/** Views shows the links to the views of a site. */
function Views() {
  const { view, page } = state.value
  const shown = (id: ViewName) => !pass.value || !unshared.includes(id)
  useKeys(
    Object.fromEntries(views.map((id, i) => ['1l2345678-.90,'[i], () => shown(id) && go({ ...elsewhere, view: id })])),
  )
  return (
    <nav class="site-nav" aria-label={texts.viewsOf}>
      {views.filter(shown).map((id) => (
        <Link key={id} to={{ ...elsewhere, view: id }} current={id === view ? (page ? 'true' : 'page') : undefined}>
          {texts.viewNames[id]}
        </Link>
      ))}
    </nav>
  )
}

function View() {
  const { site, view } = state.value
  return view === 'overview' ? <Figures key={site} view={overview} /> : <Lazy page="Views" />
}

function App({ problem }: { problem: string | undefined }) {
  useKeys({
    '?': () => (helpShown.value = true),
    's': () => session.value === 'in' && !pass.value && go(toSites),
  })
  if (session.value !== 'in') return secret ? <Lazy page="OpenShare" /> : <SignIn problem={problem} />
  return (
    <>
      <Header />
      {state.value.site ? (
        <>
          <Views />
          <View />
        </>
      ) : (
        <Lazy page="Sites" />
      )}
      <Help />
    </>
  )
}

async function begin() {
  const problem = await arrive()
  state.value = { ...state.peek() }
  if (problem || secret) session.value = 'out'
  render(<App problem={problem} />, document.body)
}

void begin()
