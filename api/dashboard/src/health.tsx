// The health of a site's insights: the outcomes of its events, the age of the figures, and things to check.
import { useEffect, useMemo } from 'preact/hooks'
import { state, type State } from './address'
import { batch, call, insights, Refusal, type Query, type Result, type Results } from './api'
import { Status } from './figures'
import { reasons } from './columns'
import { Curve } from './curve'
import { clock, count, date } from './format'
import { healthQueries } from './health_queries'
import { checks, days, refusedSum, type Balance, type Check, type RefusedDay } from './health_checks'
import { useKeys } from './keys'
import { minutes, type Live } from './live'
import { Loader } from './load'
import { panels } from './more_panels'
import { PanelCard } from './panel'
import { Trouble } from './parts'
import { RowsTable, type Cell } from './rows_table'
import { Spark } from './spark'
import { texts } from './texts'
import { toolTexts } from './tool_texts'
import { counter, Totals, type Total } from './totals'

type Loaded = { balance: Balance | undefined; live: Live; results: Results; asked: Record<string, Query> }

/** allowed returns the value of an answer, or undefined if the reader may not see it. */
async function allowed<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer
  } catch (fault) {
    if (fault instanceof Refusal && fault.status === 403) return undefined
    throw fault
  }
}

async function load(s: State, signal: AbortSignal): Promise<Loaded> {
  const at = insights(s.org, s.site)
  const asked = healthQueries(s)
  const [balance, live, results] = await Promise.all([
    allowed(call<Balance>(at + '/events/balance', { signal })),
    call<Live>(at + '/live', { signal }),
    batch(s.org, s.site, asked, signal),
  ])
  return { balance, live, results, asked }
}

/** single returns a result that looks like the answer to a query with one row. The row has the given numbers. */
function single(numbers: Record<string, number | undefined>): Result {
  const columns = Object.entries(numbers).map(([column, n]) => ({ column, values: [n ?? null] }))
  return { status: 200, headers: {}, answer: { columns } }
}

function balanced(b: Balance | undefined): Results {
  if (!b) return {}
  const { received, accepted, stored, deadLettered, inFlight } = b
  return {
    balance: single({ received, accepted, stored, deadLettered, inFlight, refused: refusedSum(b) }),
  }
}

/** since returns the number of seconds since the last event, or null if there was no event. */
function since(result: Result | undefined, now: string): number | null | undefined {
  if (result?.status !== 200) return undefined
  const times = (result.answer.columns.find((c) => c.column === 'datetime')?.values ?? []) as string[]
  return times.length ? Math.max(0, (Date.parse(now) - Math.max(...times.map((t) => Date.parse(t)))) / 1000) : null
}

function known({ balance, live, results }: Loaded) {
  const fresh = Object.values(results)
    .flatMap((r) => r.headers['Octavo-Fresh-Until'] ?? [])
    .sort()[0]
  const [p, a] = [since(results.lastPeople, live.now), since(results.lastAgents, live.now)]
  return {
    balance,
    lag: fresh ? (Date.parse(live.now) - Date.parse(fresh)) / 1000 : undefined,
    silent: p === undefined || a === undefined ? undefined : { people: p, agents: a },
  }
}

const total = counter(toolTexts)
const totals: Total[] = [
  total('received', 'balance', 'received'),
  total('accepted', 'balance', 'accepted'),
  total('stored', 'balance', 'stored'),
  total('refused', 'balance', 'refused', { lessIsGood: true }),
  total('inFlight', 'balance', 'inFlight'),
  total('deadLettered', 'balance', 'deadLettered', { lessIsGood: true }),
]

export function Health() {
  const loader = useMemo(
    () =>
      new Loader<Loaded>(() => {
        const s = state.value
        return { key: s.org + ' ' + s.site, load: (signal) => load(s, signal) }
      }),
    [],
  )
  useEffect(() => () => loader.end(), [loader])
  const again = () => loader.again()
  useKeys({ r: again })
  const now = loader.now.value
  const loaded = now.value
  const results = loaded && { ...loaded.results, ...balanced(loaded.balance) }
  return (
    <main id="main" data-view="health" aria-busy={now.busy} class={now.busy && loaded ? 'reloading' : ''}>
      <div class="page-head">
        <h2>{texts.viewNames.health}</h2>
        <p class="quiet">
          {loaded?.balance && (
            <span>{toolTexts.since(clock(loaded.balance.since), loaded.balance.roles.join(', '))}</span>
          )}
          {loaded && !loaded.balance && <span>{toolTexts.noBalance}</span>}
        </p>
      </div>
      <Trouble load={now} again={again} />
      <Totals totals={totals} results={results} />
      <Checks list={loaded ? checks(known(loaded)) : []} />
      <Curve
        title={toolTexts.minutes}
        lines={loaded && minutes(loaded.live)}
        interval="hour"
        cut={{ first: false, last: true }}
      />
      {loaded?.balance && <Refusals balance={loaded.balance} />}
      {loaded?.balance && <ByDay all={days(loaded.balance, loaded.live.now)} />}
      <div class="panels">
        {panels('doors', 'eventKeys', 'types').map((p) => (
          <PanelCard key={p.id} panel={p} query={loaded?.asked[p.id]} result={results?.[p.id]} busy={now.busy} />
        ))}
      </div>
      <Status results={loaded?.results} busy={now.busy} again={again} />
    </main>
  )
}

type Refused = { reason: string; events: number; requests: number }

/** counts has the columns with numbers, which both tables of refusals have. */
const counts: Cell<Pick<Refused, 'events' | 'requests'>>[] = (['events', 'requests'] as const).map((id) => ({
  id,
  label: toolTexts[id],
  number: true,
  show: (row) => (row[id] ? count(row[id]) : texts.none),
}))

const cells: [Cell<Refused>, ...Cell<Refused>[]] = [
  { id: 'reason', label: toolTexts.reason, show: ({ reason }) => <code>{reason}</code> },
  { id: 'why', label: toolTexts.why, show: ({ reason }) => <span class="long">{reasons[reason] ?? ''}</span> },
  ...counts,
]

/** Refusals lists the reasons for which events and requests were refused, the most frequent reason first. */
function Refusals({ balance: { refused, unreadRequests: unread } }: { balance: Balance }) {
  const rows = [...new Set([...Object.keys(refused), ...Object.keys(unread)])]
    .map((reason) => ({ reason, events: refused[reason] ?? 0, requests: unread[reason] ?? 0 }))
    .sort((a, b) => b.events - a.events || b.requests - a.requests)
  if (rows.length === 0) return null
  return (
    <section class="card list" aria-labelledby="refused-title" data-panel="refused">
      <header>
        <h2 id="refused-title">{toolTexts.refusedTitle}</h2>
      </header>
      <RowsTable cells={cells} rows={rows} keyOf={(r) => r.reason} />
    </section>
  )
}

const dayCells: [Cell<RefusedDay>, ...Cell<RefusedDay>[]] = [
  { id: 'date', label: toolTexts.day, show: ({ date: day }) => date(day, 'UTC') },
  ...counts,
]

/** ByDay lists how many events and requests were refused on each day, the newest day first. */
function ByDay({ all }: { all: RefusedDay[] }) {
  const rows = all.filter((d) => d.events || d.requests).reverse()
  if (rows.length === 0) return null
  const most = rows.reduce((a, b) => (b.events > a.events ? b : a))
  return (
    <section class="card list" aria-labelledby="refused-days-title" data-panel="refusedDays">
      <header>
        <h2 id="refused-days-title">{toolTexts.refusedDays}</h2>
        <Spark
          values={all.map((d) => d.events)}
          label={toolTexts.mostRefused(count(most.events), date(most.date, 'UTC'))}
        />
      </header>
      <p class="quiet about">{toolTexts.refusedDaysOf(count(all.length), count(rows.length))}</p>
      <RowsTable cells={dayCells} rows={rows} keyOf={(d) => d.date} />
    </section>
  )
}

function Checks({ list }: { list: Check[] }) {
  return (
    <section class="card checks" aria-labelledby="checks-title">
      <h2 id="checks-title">{toolTexts.checksOf}</h2>
      <ul>
        {list.map(({ id, good, says, hint }) => (
          <li key={id} data-check={id} class={good === undefined ? 'told' : good ? 'fine' : 'look'}>
            <b aria-hidden="true">{good === undefined ? 'i' : good ? '✓' : '!'}</b>
            <span class="hidden">{good === undefined ? '' : good ? toolTexts.fine : toolTexts.attention}</span>
            <span>
              {says} {hint && <span class="quiet">{hint}</span>}
            </span>
          </li>
        ))}
      </ul>
    </section>
  )
}
