// All pages except a site's overview: the other views, the list of sites, and the page of a share link. They are in a
// separate file of the bundle.
import { state, unshared } from './address'
import { Explore } from './explore'
import { Figures } from './figures'
import { Health } from './health'
import { Journeys } from './journeys'
import { LiveView } from './live'
import { agents, audience, broken, feedback, links, openapi, search } from './more_views'
import { OnePage } from './one_page'
import { Pages } from './pages'
import { Settings } from './settings'
import { pass } from './share'
import { overview } from './views'
export { OpenShare } from './open_share'
export { Sites } from './sites'

/** figures has the views that consist of totals, a graph and lists. own has the components of all other views. */
const figures = { search, agents, audience, broken, feedback, links, openapi }
const own = { live: LiveView, journeys: Journeys, explore: Explore, health: Health, settings: Settings }

const has = <T extends object>(views: T, name: string): name is Extract<keyof T, string> => Object.hasOwn(views, name)

export function Views() {
  const { site, view, page } = state.value
  // If the address has a view that the share link does not show, the page shows the overview.
  if (pass.value && unshared.includes(view)) return <Figures key={site} view={overview} />
  if (has(figures, view)) return <Figures key={site + view} view={figures[view]} />
  if (has(own, view)) {
    const Own = own[view]
    return <Own key={site + view} />
  }
  return page ? <OnePage key={site + page} /> : <Pages key={site} />
}
