// The target that the page proposes for a broken address. It is a page that had the path before, a page whose path is
// the end of the path, or a page that a search for the words of the path finds.
import { all, call, Refusal } from './api'

export type SiteSpace = { id: string; title: string; path: string; default: boolean; space: { id: string } }

/** Target is a page in a space of a site. why is the reason why the page is proposed. */
export type Target = { siteSpace: string; page: string; title: string; path: string; why: 'end' | 'former' | 'search' }

/**
 * Proposal is the result for a broken address: the target to which it already leads, the title of the page that has
 * the path now, or the proposed target, if any. A site shows a page before a redirect of the same path.
 */
export type Proposal = { leads: string } | { here: string } | { target: Target | undefined }

type Destination = { kind: 'site-page'; siteSpaceId: string; pageId: string } | { kind: 'external'; url: string }
export type Redirect = { id: string }

const siteAt = (org: string, site: string) => `v1/orgs/${encodeURIComponent(org)}/sites/${encodeURIComponent(site)}`

export const siteSpaces = (org: string, site: string) => all<SiteSpace>(siteAt(org, site) + '/site-spaces')

/** found returns the value of an answer, or undefined if the object does not exist or the reader may not read it. */
async function found<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer
  } catch (fault) {
    if (fault instanceof Refusal && [400, 403, 404].includes(fault.status)) return undefined
    throw fault
  }
}

const trimmed = (path: string) => path.replace(/^\/+|\/+$/g, '')

/**
 * within returns the spaces in which an address may be, and the path that it has in each. First come the spaces whose
 * path is the beginning of the address. The last space is the site's default space.
 */
export function within(path: string, spaces: SiteSpace[]): { space: SiteSpace; path: string }[] {
  const whole = trimmed(path)
  const begins = spaces
    .filter((s) => trimmed(s.path) !== '' && (whole + '/').startsWith(trimmed(s.path) + '/'))
    .sort((a, b) => b.path.length - a.path.length)
    .map((space) => ({ space, path: trimmed(whole.slice(trimmed(space.path).length)) }))
  const others = spaces.filter((s) => s.default).map((space) => ({ space, path: whole }))
  return [...begins, ...others].filter((at) => at.path !== '').slice(0, 3)
}

/** words returns the words of the last two parts of a path, without a file extension. */
export const words = (path: string) =>
  trimmed(path)
    .replace(/\.(html?|md|php|aspx?)$/i, '')
    .split('/')
    .slice(-2)
    .join(' ')
    .replace(/[-_+.]+|%[0-9a-f]{2}/gi, ' ')
    .trim()

type Page = { id: string; title: string; path?: string }

export async function propose(org: string, site: string, path: string, spaces: SiteSpace[]): Promise<Proposal> {
  const at = siteAt(org, site)
  const q = new URLSearchParams({ source: path })
  const leads = await found(call<{ target: string }>(`${at}/redirect?${q.toString()}`))
  if (leads) return { leads: leads.target }
  for (const { space, path: inner } of within(path, spaces)) {
    const page = await found(
      call<Page>(`v1/spaces/${encodeURIComponent(space.space.id)}/content/path/${encodeURIComponent(inner)}`),
    )
    if (page?.path !== undefined) {
      if (trimmed(page.path) === inner) return { here: page.title || page.path }
      return { target: { siteSpace: space.id, page: page.id, title: page.title, path: page.path, why: 'former' } }
    }
  }
  const query = words(path)
  if (!query || spaces.length === 0) return { target: undefined }
  const hits = await found(
    call<{ items: { id: string; pages: Page[] }[] }>(`${at}/search`, { method: 'POST', body: { query } }),
  )
  const pages = (hits?.items ?? []).flatMap((item) =>
    item.pages.flatMap((page) => {
      const space = spaces.find((s) => s.space.id === item.id || s.id === item.id)
      return space ? [{ space, page, path: page.path ?? '' }] : []
    }),
  )
  // A page whose path is the end of the broken path is a likelier target than a page with the same words.
  const ends = pages.find((p) => trimmed(p.path) !== '' && ('/' + trimmed(path)).endsWith('/' + trimmed(p.path)))
  const best = ends ?? pages[0]
  if (!best) return { target: undefined }
  const { space, page } = best
  return {
    target: { siteSpace: space.id, page: page.id, title: page.title, path: best.path, why: ends ? 'end' : 'search' },
  }
}

/** redirect creates a redirect from a path to a page, or to an address outside of the site. */
export const redirect = (org: string, site: string, source: string, destination: Destination) =>
  call<Redirect>(siteAt(org, site) + '/redirects', { method: 'POST', body: { source, destination } })

/** undo deletes a redirect. */
export const undo = (org: string, site: string, id: string) =>
  call(`${siteAt(org, site)}/redirects/${encodeURIComponent(id)}`, { method: 'DELETE' })
