// The overview's six totals.
import type { Results } from './api'
import { count, duration, share } from './format'
import { Exactness } from './panel'
import { Delta } from './parts'
import type { QueryName } from './queries'
import { helpful, rated, single, type Ratings } from './rows'
import { texts } from './texts'

type Total = {
  id: keyof typeof texts.total
  query: QueryName
  read: (answer: Results[string]['answer']) => { now: number | null; before: number | null | undefined }
  write: (n: number) => string
  note?: (answer: Results[string]['answer']) => string
}

const ratings = (answer: Results[string]['answer']) => single<Ratings>(answer, 'pageFeedbackRating')
const metric = (column: string) => (answer: Results[string]['answer']) => single<number>(answer, column)

const totals: Total[] = [
  { id: 'people', query: 'people', read: metric('peopleCount'), write: count },
  { id: 'views', query: 'views', read: metric('eventsCount'), write: count },
  { id: 'reads', query: 'reads', read: metric('eventsCount'), write: count },
  { id: 'sessions', query: 'people', read: metric('sessionsCount'), write: count },
  { id: 'engaged', query: 'people', read: metric('engagedTime'), write: duration },
  {
    id: 'helpful', query: 'people', write: share,
    read: (answer) => {
      const { now, before } = ratings(answer)
      return { now: helpful(now), before: before === undefined ? undefined : helpful(before) }
    },
    note: (answer) => {
      const { now } = ratings(answer)
      return now && rated(now) ? texts.ratings(count(rated(now))) : ''
    },
  },
]

export function Totals({ results }: { results: Results | undefined }) {
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
