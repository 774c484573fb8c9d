// The totals of the overview, and the type of a total.
import type { Results } from './api'
import { count, duration, share } from './format'
import { Exactness } from './panel'
import { Delta } from './parts'
import { helpful, rated, single, type Ratings } from './rows'
import { texts } from './texts'

export type Total = {
  id: string
  name: string
  hint: string
  query: string
  read: (answer: Answer, results: Results) => { now: number | null; before: number | null | undefined }
  write: (n: number) => string
  note?: (answer: Answer) => string
  /** lessIsGood means that a decrease is good. */
  lessIsGood?: true
}

type Answer = Results[string]['answer']
export const metric = (column: string) => (answer: Answer) => single<number>(answer, column)

/** rating returns the members of a total that shows the share of good ratings, and the number of all ratings. */
export function rating(column: string, of: (value: unknown) => Ratings | null): Pick<Total, 'read' | 'write' | 'note'> {
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

/** counter returns a function that builds totals with the given texts. By default, a total counts events. */
export const counter =
  <ID extends string>(names: { total: Record<ID, string>; totalHints: Record<ID, string> }) =>
  (id: ID, query: string, column = 'eventsCount', more: Partial<Total> = {}): Total => ({
    id,
    name: names.total[id],
    hint: names.totalHints[id],
    query,
    read: metric(column),
    write: count,
    ...more,
  })

const total = counter(texts)
export const helpfulTotal = total(
  'helpful',
  'people',
  '',
  rating('pageFeedbackRating', (v) => v as Ratings | null),
)
export const engaged = total('engaged', 'people', 'engagedTime', { write: duration })
export const people = total('people', 'people', 'peopleCount')
export const views = total('views', 'views')
export const reads = total('reads', 'reads')
export const sessions = total('sessions', 'people', 'sessionsCount')

export const overviewTotals: Total[] = [people, views, reads, sessions, engaged, helpfulTotal]

export function Totals({ totals, results }: { totals: Total[]; results: Results | undefined }) {
  return (
    <dl class="totals">
      {totals.map((total) => {
        const result = results?.[total.query]
        const good = result?.status === 200 ? result : undefined
        const { now, before } = good ? total.read(good.answer, results ?? {}) : { now: null, before: undefined }
        return (
          <div
            key={total.id}
            class={'card total ' + total.id + (total.lessIsGood ? ' less-is-good' : '')}
            data-total={total.id}
          >
            <dt title={total.hint}>{total.name}</dt>
            <dd>
              <strong class={results ? '' : 'waiting'}>{now === null ? texts.none : total.write(now)}</strong>
              <span class="notes">
                <Delta now={now} before={before} write={total.write} />
                {before ? <span class="quiet was">{texts.was(total.write(before))}</span> : null}
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
