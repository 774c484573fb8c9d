// The totals of views.
import type { Results } from './api'
import { count, duration, share } from './format'
import { Exactness } from './panel'
import { Delta } from './parts'
import { asRatings, helpful, rated, single, type Answers, type Ratings } from './rows'
import { texts } from './texts'

export type Total = {
  id: keyof typeof texts.total
  query: string
  read: (answer: Results[string]['answer']) => { now: number | null; before: number | null | undefined }
  write: (n: number) => string
  note?: (answer: Results[string]['answer']) => string
}

type Answer = Results[string]['answer']
const metric = (column: string) => (answer: Answer) => single<number>(answer, column)

/** rating is the part of ratings that are good, of how many. */
function rating(column: string, of: (value: unknown) => Ratings | null): Pick<Total, 'read' | 'write' | 'note'> {
  const read = (answer: Answer) => {
    const { now, before } = single<unknown>(answer, column)
    return { now: of(now), before: before === undefined ? undefined : of(before) }
  }
  return {
    read: (answer) => {
      const { now, before } = read(answer)
      return { now: helpful(now), before: before === undefined ? undefined : helpful(before) }
    },
    write: share,
    note: (answer) => {
      const { now } = read(answer)
      return now && rated(now) ? texts.ratings(count(rated(now))) : ''
    },
  }
}

const counted = (id: Total['id'], query: string, column = 'eventsCount'): Total => ({
  id,
  query,
  read: metric(column),
  write: count,
})
const helpfulTotal: Total = {
  id: 'helpful',
  query: 'people',
  ...rating('pageFeedbackRating', (v) => v as Ratings | null),
}
const engaged: Total = { id: 'engaged', query: 'people', read: metric('engagedTime'), write: duration }
const visits = [counted('people', 'people', 'peopleCount'), counted('views', 'views'), counted('reads', 'reads')]

export const overviewTotals: Total[] = [
  ...visits,
  counted('sessions', 'people', 'sessionsCount'),
  engaged,
  helpfulTotal,
]
export const pageTotals: Total[] = [
  ...visits,
  engaged,
  { id: 'depth', query: 'people', read: metric('meanScrollDepth'), write: (percent) => share(percent / 100) },
  helpfulTotal,
]
export const searchTotals: Total[] = [
  counted('typed', 'typed'),
  counted('missed', 'missed'),
  counted('results', 'results'),
  counted('searchers', 'typed', 'peopleCount'),
  counted('asked', 'asked'),
  { id: 'answers', query: 'answers', ...rating('askResponseRating', (v) => asRatings(v as Answers | null)) },
]

export function Totals({ totals, results }: { totals: Total[]; results: Results | undefined }) {
  return (
    <dl class="totals">
      {totals.map((total) => {
        const result = results?.[total.query]
        const good = result?.status === 200 ? result : undefined
        const { now, before } = good ? total.read(good.answer) : { now: null, before: undefined }
        return (
          <div key={total.id} class={'card total ' + total.id} data-total={total.id}>
            <dt title={texts.totalHints[total.id]}>{texts.total[total.id]}</dt>
            <dd>
              <strong class={results ? '' : 'waiting'}>{now === null ? texts.none : total.write(now)}</strong>
              <span class="notes">
                <Delta now={now} before={before} write={total.write} />
                {good && total.note && <span class="quiet">{total.note(good.answer)}</span>}
                <Exactness result={good} />
              </span>
            </dd>
          </div>
        )
      })}
    </dl>
  )
}
