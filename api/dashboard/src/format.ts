// Functions that format numbers, times and names for the reader's locale.
import { zone, type Zone } from './address'
import { texts } from './texts'

/** locale is the reader's locale if its language is the page's language. If not, locale is the page's language. */
export const locale = navigator.languages.find((l) => l.split('-')[0] === texts.language) ?? texts.language

const whole = new Intl.NumberFormat(locale)
const short = new Intl.NumberFormat(locale, { notation: 'compact', maximumFractionDigits: 1 })
const percent = new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 0 })
const change = new Intl.NumberFormat(locale, {
  style: 'percent',
  maximumFractionDigits: 0,
  signDisplay: 'exceptZero',
})
/** minus replaces the hyphen by a minus sign, which is as wide as a plus sign. */
const minus = (text: string) => text.replace('-', '−')

export const count = (n: number) => whole.format(n)
const difference = new Intl.NumberFormat(locale, { signDisplay: 'exceptZero' })
/** signed formats a difference with its sign. */
export const signed = (n: number) => minus(difference.format(n))
/** brief formats numbers for the axes of a graph and for narrow places. */
export const brief = (n: number) => (Math.abs(n) < 10_000 ? whole.format(n) : short.format(n))
export const share = (part: number) => percent.format(part)

/** duration formats seconds as 48s, 3m 20s or 2h 18m. */
export function duration(seconds: number): string {
  const all = Math.round(seconds)
  const unit = (n: number, name: string) =>
    new Intl.NumberFormat(locale, { style: 'unit', unit: name, unitDisplay: 'narrow' }).format(n)
  if (all < 60) return unit(all, 'second')
  if (all >= 3600) {
    const minutes = Math.floor((all % 3600) / 60)
    return unit(Math.floor(all / 3600), 'hour') + (minutes ? ' ' + unit(minutes, 'minute') : '')
  }
  const minutes = unit(Math.floor(all / 60), 'minute')
  return all % 60 ? minutes + ' ' + unit(all % 60, 'second') : minutes
}

/**
 * changed formats how a number differs from the previous number. It returns undefined if the two cannot be compared. A
 * number that is at least ten times the previous number is formatted as a multiple. The difference of two shares is
 * formatted in percentage points.
 */
export function changed(now: number | null, before: number | null | undefined, write = count): string | undefined {
  if (now === null || !before) return undefined
  if (write === share) {
    const points = Math.round(100 * now) - Math.round(100 * before)
    return points ? texts.points(signed(points)) : texts.noChange
  }
  const part = (now - before) / before
  if (now >= 10 * before) return '×' + brief(Math.round(now / before))
  return Math.abs(part) < 0.005 ? texts.noChange : minus(change.format(part))
}

export type Interval = 'hour' | 'day' | 'week' | 'month'

const forms: Record<Interval, Intl.DateTimeFormatOptions> = {
  hour: { weekday: 'short', hour: '2-digit', minute: '2-digit' },
  day: { weekday: 'short', day: 'numeric', month: 'short' },
  week: { day: 'numeric', month: 'short', year: 'numeric' },
  month: { month: 'long', year: 'numeric' },
}
const tickForms: Record<Interval, Intl.DateTimeFormatOptions> = {
  hour: { hour: '2-digit', minute: '2-digit' },
  day: { day: 'numeric', month: 'short' },
  week: { day: 'numeric', month: 'short' },
  month: { month: 'short' },
}

const written = (text: string, form: Intl.DateTimeFormatOptions, at = zone()) =>
  new Intl.DateTimeFormat(locale, { ...form, timeZone: at }).format(new Date(text))

/** moment formats the time of a bucket. */
export const moment = (text: string, interval: Interval) => written(text, forms[interval])
/** tick formats the time of a bucket below an axis. */
export const tick = (text: string, interval: Interval) => written(text, tickForms[interval])

/** date formats a day with its year. If `at` is set, it is the time zone of the day. */
export const date = (text: string, at?: Zone) => written(text, { day: 'numeric', month: 'short', year: 'numeric' }, at)

/** clock formats a time of the current day with seconds, and a time of another day with its date. */
export function clock(text: string): string {
  const day = (at: Date) => new Intl.DateTimeFormat('en-CA', { timeZone: zone() }).format(at)
  const form: Intl.DateTimeFormatOptions = { hour: '2-digit', minute: '2-digit' }
  return written(
    text,
    day(new Date(text)) === day(new Date())
      ? { ...form, second: '2-digit' }
      : { ...form, day: 'numeric', month: 'short' },
  )
}

const regions = new Intl.DisplayNames(locale, { type: 'region', fallback: 'code' })
export function country(code: string): string {
  try {
    return regions.of(code) ?? code
  } catch {
    return code // the codes come from events, so a code can be any text
  }
}
