export interface Options {
  /** The address of Octavo, such as https://octavo.example.com. */
  server: string
  /** A publishable key of the site. It starts with opk_. */
  key: string
  /** Adds links, downloads, engaged time, site search, copied code and feedback. Default: true. */
  docs?: boolean
  /** Sends nothing for readers whose browser asks not to be tracked (Do Not Track, Global Privacy Control). */
  dnt?: boolean
  /** Sends events from localhost and from browsers that a program drives too, for development and tests. */
  local?: boolean
}

/** Starts the tracker, once for a page. Without a window it does nothing. */
export function init(options: Options): void

/** Sends an event of a type, with the members of its payload. It does nothing before init. */
export function track(type: string, more?: Record<string, unknown>): void
