// The share link of insights that has opened the page. Its readers have no session, and see only the part of a site
// that the link shows.
import { signal } from '@preact/signals'
import { texts } from './texts'

/**
 * secret is the secret of the share link. It is in the fragment of the address, which browsers do not send to servers.
 */
export const secret = /^#share=(.+)$/.exec(location.hash)?.[1]

/**
 * Pass is the answer to the request that opens the link. It is only in memory, so the page opens the link again after a
 * reload.
 */
export type Pass = {
  token: string
  title: string
  /**
   * ranges has the ranges for which the link shows figures. If the list is empty, the link shows figures of any time.
   */
  ranges: (string | { from: string; to: string })[]
}

/** rangesOf returns the text that names the ranges of a link. */
export const rangesOf = (ranges: Pass['ranges']) =>
  ranges.map((r) => (typeof r === 'string' ? (texts.ranges[r as 'today'] ?? r) : `${r.from} – ${r.to}`)).join(', ')

export const pass = signal<Pass | undefined>(undefined)
