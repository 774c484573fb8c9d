// A share link of insights. Its readers have no session: they see the part of a site that the link shows.
import { signal } from '@preact/signals'
import { texts } from './texts'

/** secret is the secret of the link that the page was opened by. It stays in the address, which servers never see. */
export const secret = /^#share=(.+)$/.exec(location.hash)?.[1]

/** Pass is what opening the link gave. It is in no storage: a page that is loaded again opens its link again. */
export type Pass = {
  token: string
  title: string
  /** ranges are the ranges that figures are cut to. Without any, all time is shown. */
  ranges: (string | { from: string; to: string })[]
}

/** rangesOf names the ranges of a link. */
export const rangesOf = (ranges: Pass['ranges']) =>
  ranges.map((r) => (typeof r === 'string' ? (texts.ranges[r as 'today'] ?? r) : `${r.from} – ${r.to}`)).join(', ')

export const pass = signal<Pass | undefined>(undefined)
