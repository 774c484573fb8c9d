// The page that opens a share link of insights. It asks for the password if the link has a password.
import { batch } from '@preact/signals'
import { useEffect, useState } from 'preact/hooks'
import { go, presets, type State } from './address'
import { call, insights, Refusal } from './api'
import { session } from './load'
import { pass, secret, type Pass } from './share'
import { Mark } from './sign_in'
import { texts } from './texts'
import { toolTexts } from './tool_texts'

const t = toolTexts.share

type Opened = { token: string; organization: string; site: string }
type Access = { site: { title: string }; part?: { ranges: Pass['ranges']; timezone: string } }

const isDay = (text: string) => /^\d{4}-\d\d-\d\d$/.test(text)

/**
 * within returns a state with the first of the link's ranges that the page can show. If the address already has a
 * range, it returns an empty state.
 */
function within(ranges: Pass['ranges']): Partial<State> {
  const q = new URLSearchParams(window.location.search)
  if (q.has('range') || q.has('from')) return {}
  for (const range of ranges) {
    const preset = presets.find((name) => name === range)
    if (preset) return { range: preset }
    if (typeof range !== 'string' && isDay(range.from) && isDay(range.to)) return { range }
  }
  return {}
}

/** openLink opens the link and shows its site. If the link cannot be opened, it returns the error. */
async function openLink(password: string): Promise<Refusal | undefined> {
  pass.value = undefined
  try {
    const {
      token,
      organization: org,
      site,
    } = await call<Opened>('insights/open', {
      method: 'POST',
      body: { secret, ...(password && { password }) },
    })
    const { site: about, part } = await call<Access>(insights(org, site) + '/access', { token })
    const ranges = part?.ranges ?? []
    batch(() => {
      pass.value = { token, title: about.title, ranges }
      session.value = 'in'
      // A link with ranges does not show earlier figures, so there is nothing to compare with.
      go({ org, site, ...within(ranges), ...(ranges.length && { compare: 'none' }) }, true)
    })
  } catch (fault) {
    return fault instanceof Refusal ? fault : new Refusal(-1, String(fault))
  }
  return undefined
}

/** says returns the message that tells why a link could not be opened. */
function says({ status, message }: Refusal): string {
  if (status === 401) return message.includes('password is wrong') ? t.wrong : t.ended
  return status === 0 ? texts.offline : status === 429 ? t.tooMany : texts.failed(status)
}

const focus = (field: HTMLInputElement | null) => field?.focus()

/** OpenShare first tries to open the link without a password. If the link has a password, it asks for the password. */
export function OpenShare() {
  const [refusal, refuse] = useState<Refusal | undefined>(undefined)
  const [locked, lock] = useState(false)
  const [busy, wait] = useState(true)
  const open = async (password: string) => {
    wait(true)
    const fault = await openLink(password)
    if (!fault) return // the view replaces this page
    const locked = fault.status === 401 && fault.message.includes('takes a password')
    lock((before) => before || locked)
    refuse(locked ? undefined : fault)
    wait(false)
  }
  useEffect(() => void open(''), [])
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    const field = (event.currentTarget as HTMLFormElement).elements.namedItem('password')
    void open(field ? (field as HTMLInputElement).value : '')
  }
  const again = refusal !== undefined && refusal.status !== 401
  return (
    <main class="sign-in" id="main">
      <form onSubmit={submit} aria-busy={busy}>
        <h1>
          <Mark /> {texts.name}
        </h1>
        <p class="quiet" role="status">
          {busy ? t.opening : ''}
        </p>
        {locked && (
          <>
            <label for="password">{t.password}</label>
            <input
              id="password"
              name="password"
              type="password"
              required
              ref={focus}
              autocomplete="off"
              aria-describedby="wrong"
              aria-invalid={refusal !== undefined}
            />
          </>
        )}
        <p id="wrong" role="alert" class="wrong">
          {refusal && says(refusal)}
        </p>
        {(locked || again) && (
          <button type="submit" class="main" disabled={busy}>
            {locked ? t.open : texts.retry}
          </button>
        )}
      </form>
    </main>
  )
}
