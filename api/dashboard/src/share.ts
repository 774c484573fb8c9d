// A share link of insights. Its readers have no session: they see the part of a site that the link shows.
import { signal } from '@preact/signals'
import { texts } from './texts'

/** secret is the secret of the share link that opened the page. It is in the fragment, which servers never see. */
export const secret = /^#share=(.+)$/.exec(location.hash)?.[1]

/** Pass is the answer to opening the link. It is only in memory, so the page opens the link again after a reload. */
export type Pass = {
  token: string
  title: string
  /** ranges has the ranges that limit the figures. If the list is empty, the link shows all time. */
  ranges: (string | { from: string; to: string })[]
}

/** rangesOf returns the text of a link's ranges. */
export const rangesOf = (ranges: Pass['ranges']) =>
  ranges.map((r) => (typeof r === 'string' ? (texts.ranges[r as 'today'] ?? r) : `${r.from} – ${r.to}`)).join(', ')

export const pass = signal<Pass | undefined>(undefined)
