// The list of keyboard shortcuts.
import { signal } from '@preact/signals'
import { Dialog } from './parts'
import { texts } from './texts'

export const helpShown = signal(false)

export function Help() {
  return (
    <Dialog title={texts.help} open={helpShown.value} close={() => (helpShown.value = false)}>
      <dl class="keys">
        {texts.keys.map(([key, what]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  )
}
