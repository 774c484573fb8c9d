// The sign-in page. It does not change the address, so that a reader then sees the view of the address.
import { useState } from 'preact/hooks'
import { session } from './load'
import { signIn } from './session'
import { texts } from './texts'

// The attribute autofocus is not used, because it takes effect only when the browser draws the page. If another field
// has the focus by then, browsers report an error.
const focus = (field: HTMLInputElement | null) => field?.focus()

export function SignIn({ problem }: { problem: string | undefined }) {
  const [wrong, say] = useState(problem)
  const [busy, wait] = useState(false)
  const submit = async (event: SubmitEvent) => {
    event.preventDefault()
    const field = (event.currentTarget as HTMLFormElement).elements.namedItem('token') as HTMLInputElement
    wait(true)
    say(await signIn(field.value.trim()))
    wait(false)
    field.select()
  }
  return (
    <main class="sign-in" id="main">
      <form onSubmit={(e) => void submit(e)} aria-busy={busy}>
        <h1>
          <Mark /> {texts.name}
        </h1>
        {session.value === 'ended' && <p class="notice">{texts.ended}</p>}
        <label for="token">{texts.token}</label>
        <input
          id="token"
          name="token"
          type="password"
          required
          ref={focus}
          autocomplete="off"
          spellcheck={false}
          aria-describedby="hint wrong"
          aria-invalid={wrong !== undefined}
        />
        <p id="wrong" role="alert" class="wrong">
          {wrong}
        </p>
        <button type="submit" class="main" disabled={busy}>
          {texts.signIn}
        </button>
        <p id="hint" class="quiet">
          {texts.signInHint}
        </p>
        <p class="quiet">
          {texts.tokenHelp} <code>{texts.tokenHint}</code>.
        </p>
      </form>
    </main>
  )
}

/** Mark is the product's logo. */
export function Mark() {
  return (
    <svg class="mark" viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="7" />
      <path d="M8 22V14m5 8V9m6 13v-6m5 6V11" />
    </svg>
  )
}
