// A link to another state of the page.
import type { ComponentChildren } from 'preact'
import { go, state, write, type State } from './address'

export function Link({
  to,
  label,
  current,
  class: name,
  children,
}: {
  to: Partial<State>
  label?: string
  current?: 'page' | 'true' | undefined
  class?: string
  children: ComponentChildren
}) {
  return (
    <a
      href={write({ ...state.value, ...to })}
      class={name}
      aria-label={label}
      title={label}
      aria-current={current}
      onClick={(event) => {
        if (event.metaKey || event.ctrlKey || event.shiftKey) return // the browser opens another tab or window
        event.preventDefault()
        go(to)
      }}
    >
      {children}
    </a>
  )
}
