// The views of a site that are not the overview. The bundle has them in a file of their own.
import { state } from './address'
import { Figures } from './figures'
import { agents, audience, search } from './more_views'
import { OnePage } from './one_page'
import { Pages } from './pages'

const views = { search, agents, audience }

export function Views() {
  const { site, view, page } = state.value
  if (view in views) return <Figures key={site + view} view={views[view as keyof typeof views]} />
  return page ? <OnePage key={site + page} /> : <Pages key={site} />
}
