// Keyboard shortcuts. While a component is shown, its keys are registered.
import { useLayoutEffect, useRef } from 'preact/hooks'

type Action = (event: KeyboardEvent) => void

/** useKeys registers an action for each of some keys. While the reader types in a field, the keys have no action. */
export function useKeys(actions: Record<string, Action>) {
  const latest = useRef(actions)
  latest.current = actions
  useLayoutEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return
      const at = event.target as HTMLElement
      if (event.key !== 'Escape' && at.closest('input:not([type=radio]), textarea, select, dialog[open]')) return
      const action = latest.current[event.key]
      if (!action) return
      event.preventDefault()
      action(event)
    }
    addEventListener('keydown', press)
    return () => removeEventListener('keydown', press)
  }, [])
}
