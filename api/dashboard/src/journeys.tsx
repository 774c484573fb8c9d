// Journeys of visitors: a funnel of steps, and returning visitors.
import { useState } from 'preact/hooks'
import { go, state, type Filter, type State } from './address'
import type { AnyQuery, Result } from './api'
import { useQueries } from './asking'
import { Status, useRangeKeys } from './figures'
import { count, moment, share } from './format'
import { cohortsOf, fewest, journeyQueries, most, stepsOf } from './journey_queries'
import { ListCard } from './list_card'
import { allPanels } from './more_panels'
import { moreTexts } from './more_texts'
import { Trouble } from './parts'
import { RowsTable, type Cell } from './rows_table'
import { lines } from './table'
import { texts } from './texts'
import { toolTexts } from './tool_texts'
import { Chips, Toolbar } from './toolbar'

const t = toolTexts.journeys
const events = moreTexts.values.eventType ?? {}

export function Journeys() {
  const loader = useQueries<AnyQuery>(journeyQueries, () => [])
  const s = state.value
  const now = loader.now.value
  useRangeKeys(() => loader.again())
  const { results, asked } = now.value ?? {}
  return (
    <main id="main" data-view="journeys" aria-busy={now.busy} class={now.busy && results ? 'reloading' : ''}>
      <Toolbar compared={false} />
      <Chips panels={allPanels} />
      <Trouble load={now} again={() => loader.again()} />
      <Funnel s={s} query={asked?.funnel} result={results?.funnel} busy={now.busy} />
      <Retention s={s} query={asked?.retention} result={results?.retention} busy={now.busy} />
      <Status results={results} busy={now.busy} again={() => loader.again()} />
    </main>
  )
}

type Part = { s: State; query: AnyQuery | undefined; result: Result | undefined; busy: boolean }

/** named returns the title of a step. The steps come from the address, so a step can have any column and value. */
const named = ({ column, value }: Filter) => (column === 'eventType' && events[value ?? '']) || (value ?? texts.blank)

type Step = { at: number; name: string; count: number; ofFirst: number | null; ofPrevious: number | null }

function Funnel({ s, query, result, busy }: Part) {
  const steps = stepsOf(s)
  const found = result?.status === 200 ? (result.answer.steps ?? []) : []
  const rows = steps.map((step, at): Step => {
    const { count = 0, conversion = null, conversionFromPrevious = null } = found[at] ?? {}
    return { at, name: named(step), count, ofFirst: conversion, ofPrevious: conversionFromPrevious }
  })
  const part = (n: number | null) => (n === null ? texts.none : share(n))
  const cells: [Cell<Step>, ...Cell<Step>[]] = [
    {
      id: 'step',
      label: t.step,
      show: (step) => (
        <>
          {step.at + 1}. {step.name}
          <span class="step-bar" aria-hidden="true">
            <i style={{ width: `${100 * (step.ofFirst ?? 0)}%` }} />
          </span>
        </>
      ),
    },
    { id: 'count', label: t.count, number: true, show: (step) => count(step.count) },
    { id: 'first', label: t.ofFirst, number: true, show: (step) => part(step.ofFirst) },
    { id: 'previous', label: t.ofPrevious, number: true, show: (step) => part(step.at ? step.ofPrevious : null) },
    {
      id: 'drop',
      label: '',
      show: (step) =>
        steps.length > fewest && (
          <button
            type="button"
            class="small"
            aria-label={t.drop(step.name)}
            onClick={() => go({ funnel: steps.toSpliced(step.at, 1) })}
          >
            ×
          </button>
        ),
    },
  ]
  return (
    <ListCard
      id="funnel"
      title={t.funnel}
      about={t.about}
      query={query}
      result={result}
      busy={busy}
      none={t.nobody}
      rows={rows.length}
      file={() =>
        lines(
          ['step', 'visitors', 'conversion', 'conversionFromPrevious'],
          rows.map((row) => [row.name, row.count, row.ofFirst, row.ofPrevious]),
        )
      }
    >
      <RowsTable cells={cells} rows={rows} keyOf={(row) => String(row.at)} />
      <NextStep steps={steps} />
    </ListCard>
  )
}

/** NextStep is the form that adds a step: an event of a type, or a page by its path. */
function NextStep({ steps }: { steps: Filter[] }) {
  const [column, choose] = useState('eventType')
  const add = (event: SubmitEvent) => {
    event.preventDefault()
    const value = String(new FormData(event.currentTarget as HTMLFormElement).get('value'))
    go({ funnel: [...steps, { column, not: false, value }] })
  }
  return (
    <form class="journey-form" onSubmit={add} aria-label={t.then}>
      <label>
        {t.kind}
        <select value={column} onChange={(e) => choose(e.currentTarget.value)}>
          <option value="eventType">{t.event}</option>
          <option value="urlPath">{t.page}</option>
        </select>
      </label>
      <label>
        {column === 'eventType' ? t.event : t.path}
        {column === 'eventType' ? (
          <select name="value">
            {Object.entries(events).map(([id, name]) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </select>
        ) : (
          <input name="value" required placeholder="/start" />
        )}
      </label>
      <button type="submit" disabled={steps.length >= most}>
        {t.add}
      </button>
      <button type="button" class="plain" onClick={() => go({ funnel: [] })}>
        {t.usual}
      </button>
    </form>
  )
}

/**
 * Retention shows the table of returning visitors. Each row is a cohort: the visitors whose first visit was in the same
 * period.
 */
function Retention({ s, query, result, busy }: Part) {
  const interval = cohortsOf(s.range)
  const cohorts = result?.status === 200 ? (result.answer.cohorts ?? []) : []
  // A preset range ends now, so its last period is not over.
  const running = typeof s.range === 'string' ? cohorts.length : Infinity
  // Leave out the first count, because all visitors of a cohort are in its first period.
  const rows = cohorts
    .map((c, period) => ({ ...c, returned: c.returned.slice(1), whole: running - 2 - period }))
    .filter((c) => c.visitors > 0)
  const columns = Math.max(0, ...rows.map((c) => c.returned.length))
  // The cell with the greatest share of the table has the darkest colour.
  const greatest = Math.max(...rows.flatMap((c) => c.returned.map((n) => n / c.visitors)), 0.01)
  const heads = Array.from({ length: columns }, (_, n) => t.later[interval](n + 1))
  return (
    <ListCard
      id="retention"
      title={t.retention}
      about={t.returning + (running < Infinity ? ' ' + t.running : '')}
      query={query}
      result={result}
      busy={busy}
      none={t.noCohort}
      rows={rows.length}
      file={() =>
        lines(
          ['start', 'visitors', ...heads],
          rows.map((c) => [c.start, c.visitors, ...c.returned]),
        )
      }
    >
      {/* The group can have the focus, so that keys can scroll the table. */}
      <div class="cohorts" tabIndex={0} role="group" aria-labelledby="list-retention">
        <table>
          <thead>
            <tr>
              {[t.began, t.visitors, ...heads].map((head, n) => (
                <th key={head} scope="col" class={n ? 'number' : ''}>
                  {head}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((c) => (
              <tr key={c.start}>
                <th scope="row">{moment(c.start, interval)}</th>
                <td class="number" data-label={t.visitors}>
                  {count(c.visitors)}
                </td>
                {c.returned.map((n, at) => (
                  <td
                    key={heads[at]}
                    class={at < c.whole ? 'number' : 'number running'}
                    data-label={heads[at]}
                    title={count(n)}
                    style={{ '--share': (100 * n) / c.visitors / greatest }}
                  >
                    {share(n / c.visitors)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </ListCard>
  )
}
