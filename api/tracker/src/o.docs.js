// The script that a script tag loads: the core and the extension for documentation, in one request.
import { start } from './core.js'
import { extend } from './docs.js'

const s = document.currentScript
if (!window.octavo?.call) {
  const o = { url: new URL('e/' + s.dataset.key, s.src), ...s.dataset }
  extend(o, window.octavo = start(o))
}
