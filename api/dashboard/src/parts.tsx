// Small components that several views use.
import { useEffect, useRef, useState } from 'preact/hooks'
import type { ComponentChildren } from 'preact'
import type { Load } from './load'
import { changed } from './format'
import { texts } from './texts'

/** Delta shows how a number differs from the previous number. Its sign and its colour show the same information. */
export function Delta({
  now,
  before,
  write,
  added = false,
}: {
  now: number | null
  before: number | null | undefined
  write: (n: number) => string
  /** added means that a number is shown as new if the previous number is 0. */
  added?: boolean
}) {
  if (added && now && before === 0) return <span class="delta">{texts.new}</span>
  const text = changed(now, before, write)
  if (text === undefined || !before || now === null) return null
  const way = text === texts.noChange ? 'same' : now > before ? 'up' : 'down'
  return (
    <span class={'delta ' + way} title={texts.before(write(before))}>
      {text}
    </span>
  )
}

/** Choice is a row of buttons of which the reader chooses one. */
export function Choice<T extends string>({
  label,
  options,
  value,
  choose,
}: {
  label: string
  options: readonly (readonly [T, string])[]
  value: T
  choose: (value: T) => void
}) {
  return (
    <div class="choice" role="group" aria-label={label}>
      {options.map(([id, text]) => (
        <button key={id} type="button" aria-pressed={id === value} onClick={() => choose(id)}>
          {text}
        </button>
      ))}
    </div>
  )
}

/** Countdown shows the number of seconds until the next attempt. */
function Countdown({ until }: { until: number }) {
  const left = () => Math.max(0, Math.ceil((until - Date.now()) / 1000))
  const [seconds, show] = useState(left())
  useEffect(() => {
    const timer = setInterval(() => show(left()), 1000)
    show(left())
    return () => clearInterval(timer)
  }, [until])
  return <span>{texts.retryIn(seconds)}</span>
}

function reason(status: number): string {
  switch (status) {
    case -1:
      return texts.incomplete
    case 0:
      return texts.offline
    case 403:
      return texts.forbidden
    case 404:
      return texts.notFound
    case 429:
      return texts.tooMany
    case 503:
      return texts.unready
    default:
      return texts.failed(status)
  }
}

/** Trouble shows why figures could not be loaded, and the time until the next attempt. */
export function Trouble<T>({ load, again }: { load: Load<T>; again: () => void }) {
  const { refusal, retryAt } = load
  return (
    <div role="alert" class="live">
      {refusal && (
        <p class="notice">
          <span>
            {reason(refusal.status)}
            {refusal.status >= 400 && refusal.status < 429 && refusal.status !== 404 && refusal.status !== 403
              ? ' ' + refusal.message
              : ''}
          </span>
          {retryAt > 0 && <Countdown until={retryAt} />}
          <button type="button" onClick={again}>
            {texts.retry}
          </button>
        </p>
      )}
    </div>
  )
}

/** Command shows a text with a button that copies it. */
export function Command({ text }: { text: string }) {
  const [said, say] = useState('')
  const copy = async () => say((await copyText(text)) ? '✓' : texts.notCopied)
  return (
    <div class="command">
      <pre tabIndex={0}>
        <code>{text}</code>
      </pre>
      <button type="button" onClick={() => void copy()}>
        {texts.copy}
        <span role="status">{said && ' ' + said}</span>
      </button>
    </div>
  )
}

export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return false // browsers let only pages with https or of localhost copy text
  }
}

/** Dialog shows its children above the page while it is open. */
export function Dialog({
  title,
  open,
  close,
  children,
}: {
  title: string
  open: boolean
  close: () => void
  children: ComponentChildren
}) {
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    if (open) dialog.current?.showModal()
    else dialog.current?.close()
  }, [open])
  return (
    <dialog ref={dialog} onClose={close} aria-label={title} onClick={(e) => e.target === dialog.current && close()}>
      <h2>{title}</h2>
      {children}
      <form method="dialog">
        <button type="submit">{texts.close}</button>
      </form>
    </dialog>
  )
}
