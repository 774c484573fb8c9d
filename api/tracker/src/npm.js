// The package @octavo/tracker. Importing it does nothing, so servers that render pages may import it.
import { start } from './core.js'
import { extend } from './docs.js'

/**
 * init starts the tracker, once for a page. Without a window it does nothing.
 * @param {import('./index.d.ts').Options} options
 */
export const init = ({ server, key, docs = true, ...more }) => {
  if (typeof window == 'undefined' || window.octavo?.call) return
  const o = { url: server.replace(/\/*$/, '/e/') + key, ...more }
  // A script tag writes opt-outs as attributes, which are absent or texts.
  if (!o.dnt) delete o.dnt
  window.octavo = start(o)
  if (docs) extend(o, window.octavo)
}

/**
 * track sends an event of a type, with the members of its payload. It does nothing before init.
 * @param {string} type
 * @param {Record<string, unknown>} [more]
 */
export const track = (type, more) => {
  if (typeof window != 'undefined' && window.octavo?.call) window.octavo(type, more)
}
