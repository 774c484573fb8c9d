// The script that a script tag loads. If an element has the id "octavo", window.octavo is this element, and not a
// function.
import { start } from './core.js'

const s = document.currentScript
if (!window.octavo?.call) {
  window.octavo = start({ url: new URL('e/' + s.dataset.key, s.src), ...s.dataset })
}
