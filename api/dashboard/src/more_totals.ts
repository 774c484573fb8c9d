// The totals of all views except the overview.
import { share } from './format'
import { moreTexts } from './more_texts'
import { asRatings, type Answers, type Ratings } from './rows'
import { counter, engaged, helpfulTotal, metric, people, rating, reads, sessions, views, type Total } from './totals'

const total = counter(moreTexts)

export const pageTotals: Total[] = [
  people,
  views,
  reads,
  engaged,
  total('depth', 'people', 'meanScrollDepth', { write: (percent) => share(percent / 100) }),
  helpfulTotal,
]

export const searchTotals: Total[] = [
  total('typed', 'typed'),
  total('missed', 'missed', 'eventsCount', { lessIsGood: true }),
  total('results', 'results'),
  total('searchers', 'typed', 'peopleCount'),
  total('asked', 'asked'),
  total(
    'answers',
    'answers',
    '',
    rating('askResponseRating', (v) => asRatings(v as Answers | null)),
  ),
]

/** part reads a total as a share: the events of its query, divided by the events of the query `whole`. */
const part = (whole: string): Partial<Total> => ({
  read: (answer, results) => {
    const all = results[whole]
    if (all?.status !== 200) return { now: null, before: undefined }
    const [a, b] = [metric('eventsCount')(answer), metric('eventsCount')(all.answer)]
    const of = (n: number | null, m: number | null) => (n === null || !m ? null : n / m)
    return {
      now: of(a.now, b.now),
      before: a.before === undefined || b.before === undefined ? undefined : of(a.before, b.before),
    }
  },
  write: share,
})
/**
 * rows reads a total as the number of all rows of a list, including rows that the list does not show. The compared
 * range has no such number.
 */
const rows: Partial<Total> = { read: (answer) => ({ now: answer.rowsTotal ?? null, before: undefined }) }
const sent = total('sent', 'sent', 'peopleCount')

export const agentTotals: Total[] = [
  reads,
  total('share', 'reads', '', part('everyone')),
  total('programs', 'programs', '', rows),
  total('agentPages', 'agentPages', '', rows),
  total('gone', 'gone', 'eventsCount', { lessIsGood: true }),
  sent,
]

export const audienceTotals: Total[] = [
  people,
  sessions,
  views,
  engaged,
  total('fromSearch', 'fromSearch', 'peopleCount'),
  sent,
]

export const brokenTotals: Total[] = [
  total('brokenPeople', 'people', 'eventsCount', { lessIsGood: true }),
  total('brokenAgents', 'reads', 'eventsCount', { lessIsGood: true }),
  total('brokenShare', 'broken', '', { ...part('everyone'), lessIsGood: true }),
  total('brokenVisitors', 'people', 'peopleCount', { lessIsGood: true }),
  total('brokenAddresses', 'addresses', '', { ...rows, lessIsGood: true }),
  total('brokenPrograms', 'brokenAgents', '', { ...rows, lessIsGood: true }),
]

export const feedbackTotals: Total[] = [
  total(
    'helpful',
    'ratings',
    '',
    rating('pageFeedbackRating', (v) => v as Ratings | null),
  ),
  total('ratings', 'ratings'),
  total('bad', 'bad', 'eventsCount', { lessIsGood: true }),
  total('written', 'written'),
  total('raters', 'ratings', 'peopleCount'),
  total('ratedPages', 'ratedPages', '', rows),
]

export const openapiTotals: Total[] = [
  total('looks', 'looks'),
  total('lookers', 'looks', 'peopleCount'),
  total('operations', 'operations', '', rows),
  total('tries', 'tries'),
  total('triers', 'tries', 'peopleCount'),
  total('triedOperations', 'tried', '', rows),
]

export const linkTotals: Total[] = [
  total('away', 'away'),
  total('awayPeople', 'away', 'peopleCount'),
  total('inside', 'inside'),
  total('awayShare', 'away', '', part('clicks')),
  total('hosts', 'domains', '', rows),
  total('downloads', 'downloads'),
]
