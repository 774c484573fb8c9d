// The entry of a script tag. An element whose id is "octavo" is a member of window too, and no function.
import { start } from './core.js'

const s = document.currentScript
if (!window.octavo?.call) {
  window.octavo = start({ url: new URL('e/' + s.dataset.key, s.src), ...s.dataset })
}
