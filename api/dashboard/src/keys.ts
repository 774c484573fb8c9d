// Keys. A page registers what its keys do while it is shown.
import { useLayoutEffect, useRef } from 'preact/hooks'

type Action = (event: KeyboardEvent) => void

/** useKeys lets single keys act, except where somebody types. */
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
