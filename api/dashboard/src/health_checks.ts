// Checks of the health of a site's insights.
import { brief, count, duration } from './format'
import { toolTexts } from './tool_texts'

/** Balance counts the outcomes of a site's events. The node that answers counts the events since its start. */
export type Balance = {
  since: string
  roles: string[]
  received: number
  accepted: number
  repeated: number
  refused: Record<string, number>
  unreadRequests: Record<string, number>
  /** refusedByDay leaves out days without refusals. A day is a day in UTC. */
  refusedByDay: RefusedDay[]
  stored: number
  deadLettered: number
  inFlight: number
  erased?: number
  lostMessages?: number
}

export type RefusedDay = { date: string; events: number; requests: number }

const keptDays = 30
/** days returns each day since the node's start with its refusals, and at most the last keptDays days. */
export function days({ since, refusedByDay }: Balance, now: string): RefusedDay[] {
  const at = (time: string) => Math.floor(Date.parse(time) / (1000 * day))
  const today = at(now)
  const first = Math.max(at(since), today - keptDays + 1)
  const known = new Map(refusedByDay.map((d) => [d.date, d]))
  return Array.from({ length: Math.max(0, today - first + 1) }, (_, i) => {
    const date = new Date((first + i) * 1000 * day).toISOString().slice(0, 10)
    return known.get(date) ?? { date, events: 0, requests: 0 }
  })
}

/** Known has the values that the checks use. balance is undefined for readers who may not see it. */
export type Known = {
  balance: Balance | undefined
  /** lag is the age of the figures in seconds, if it is known. */
  lag: number | undefined
  /**
   * silent has the number of seconds since the last event of people and of agents. A number is null if there was no
   * event in the last 30 days.
   */
  silent: { people: number | null; agents: number | null } | undefined
}

export type Check = {
  id: string
  /** good says whether the check has passed. It is undefined for a check that only informs. */
  good: boolean | undefined
  says: string
  hint: string
}

const sum = (counts: Record<string, number>) => Object.values(counts).reduce((all, n) => all + n, 0)
export const refusedSum = (b: Balance) => sum(b.refused)

/** late is the age of figures, in seconds, from which they count as late. */
const late = 60
const day = 86_400

export function checks({ balance, lag, silent }: Known): Check[] {
  const t = toolTexts.checks
  const list: Check[] = []
  const add = (id: string, good: boolean | undefined, says: string, hint = '') => list.push({ id, good, says, hint })
  if (lag === undefined) add('lag', false, t.lagUnknown, t.lagHint)
  else add('lag', lag <= late, t.lag(duration(Math.max(0, lag))), lag <= late ? '' : t.lagHint)
  if (silent) {
    const { people, agents } = silent
    const heard = (s: number | null) =>
      s === null ? t.never : s < day ? t.ago(duration(s)) : t.daysAgo(brief(Math.floor(s / day)))
    add(
      'people',
      people !== null && people < day,
      t.people(heard(people)),
      people !== null && people < day ? '' : t.peopleHint,
    )
    add('agents', agents === null ? undefined : true, t.agents(heard(agents)), agents === null ? t.agentsHint : '')
  }
  if (!balance) return list
  const { deadLettered: dead, inFlight, lostMessages: lost, received, roles } = balance
  const refused = refusedSum(balance)
  const unread = sum(balance.unreadRequests)
  if (!roles.includes('sink')) add('flight', undefined, t.noSink)
  else if (inFlight > 0) add('flight', lag !== undefined && lag <= late ? true : false, t.waiting(count(inFlight)))
  else add('flight', true, t.nothingWaits)
  add(
    'refused',
    refused === 0,
    refused ? t.refused(count(refused), count(received)) : t.noneRefused,
    refused ? t.refusedHint : '',
  )
  if (unread) add('unread', false, t.unread(count(unread)), t.refusedHint)
  add('dead', dead === 0, dead ? t.dead(count(dead)) : t.noneDead, dead ? t.deadHint : '')
  if (lost === undefined) add('lost', false, t.lostUnknown, t.lostUnknownHint)
  else add('lost', lost === 0, lost ? t.lost(count(lost)) : t.noneLost, lost ? t.lostHint : '')
  return list
}
