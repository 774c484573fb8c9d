// A loader that loads values, and loads them again after an error.
import { effect, signal, type Signal } from '@preact/signals'
import { Refusal } from './api'

/** session is 'in' if the reader is signed in, 'out' if not, and 'ended' if the session has ended. */
export const session = signal<'in' | 'out' | 'ended'>('in')

export type Load<T> = {
  /** value is the value that was loaded last. It stays until the next value arrives. */
  value: T | undefined
  busy: boolean
  refusal: Refusal | undefined
  /** retryAt is the time of the next attempt in milliseconds since 1970, or 0 if no attempt is planned. */
  retryAt: number
}

/** waits has the pauses before the next attempt in seconds, by the number of successive failures. */
const waits = [2, 5, 10, 30]

/** Loading loads a value. It gets the previous value, and may show an incomplete value early. */
export type Loading<T> = (signal: AbortSignal, before: T | undefined, show: (value: T) => void) => Promise<T>

/** Loader loads a value. It loads the value again whenever the state from which it is computed changes. */
export class Loader<T> {
  readonly now: Signal<Load<T>> = signal({ value: undefined, busy: true, refusal: undefined, retryAt: 0 })
  private readonly turn = signal(0)
  private failures = 0
  private timer = 0
  private readonly stop: () => void

  /**
   * prepare reads the state, and returns a function that loads the value. If the returned key is the same as before,
   * the old value is shown until the new value arrives.
   */
  constructor(prepare: () => { key: string; load: Loading<T> }) {
    let key = ''
    let running: AbortController | undefined
    const end = effect(() => {
      void this.turn.value
      const next = prepare()
      const before = this.now.peek()
      running?.abort()
      clearTimeout(this.timer)
      const mine = (running = new AbortController())
      this.now.value = {
        value: next.key === key ? before.value : undefined,
        busy: true,
        refusal: undefined,
        retryAt: 0,
      }
      key = next.key
      const show = (value: T) => {
        if (!mine.signal.aborted) this.now.value = { ...this.now.peek(), value }
      }
      next.load(mine.signal, this.now.peek().value, show).then(
        (value) => {
          if (mine.signal.aborted) return
          this.failures = 0
          this.now.value = { value, busy: false, refusal: undefined, retryAt: 0 }
        },
        (fault: unknown) => mine.signal.aborted || this.fail(fault),
      )
    })
    const online = () => this.now.peek().refusal?.status === 0 && this.again()
    addEventListener('online', online)
    this.stop = () => {
      end()
      running?.abort()
      clearTimeout(this.timer)
      removeEventListener('online', online)
    }
  }

  private fail(fault: unknown) {
    const refusal = fault instanceof Refusal ? fault : new Refusal(-1, String(fault))
    if (refusal.status === 401) {
      session.value = this.now.peek().value === undefined ? 'out' : 'ended'
      return
    }
    let retryAt = 0
    if ([0, 429, 503].includes(refusal.status)) {
      const wait = Math.max(refusal.retryAfter, waits[Math.min(this.failures++, waits.length - 1)] ?? 30)
      retryAt = Date.now() + wait * 1000
      this.timer = setTimeout(() => this.again(), wait * 1000)
    }
    this.now.value = { ...this.now.peek(), busy: false, refusal, retryAt }
  }

  again() {
    this.turn.value++
  }

  end() {
    this.stop()
  }
}
