// The list of all sites that the reader may see.
import { useEffect, useMemo, useRef } from 'preact/hooks'
import { signal, type Signal } from '@preact/signals'
import { elsewhere, go, state, type State } from './address'
import { all, batch, call, insights, Refusal, type Organization, type Results, type Site } from './api'
import { changed, clock, count } from './format'
import { useKeys } from './keys'
import { Link } from './link'
import { Loader } from './load'
import { Delta, Trouble } from './parts'
import { weekOf } from './queries'
import { series, single } from './rows'
import { Spark } from './spark'
import { texts } from './texts'

/** Entry is a row of the list: a site and its figures. The figures of different sites arrive at different times. */
type Entry = { org: Organization; site: Site; week: Signal<Week | undefined> }
type Week = {
  people: number | null
  peopleBefore: number | null | undefined
  agents: number | null
  days: number[]
  fresh: string | undefined
  /** refused is the number of refused events. It is undefined for readers who may not see it. */
  refused: number | undefined
}

type Order = 'title' | 'people' | 'agents' | 'change'
const order = signal<Order>('people')
const searched = signal('')

/**
 * entries returns the rows of the list. A site that was in the list before has its old figures, until new figures
 * arrive.
 */
async function entries(before: Entry[]): Promise<Entry[]> {
  const known = new Map(before.map((e) => [e.site.id, e.week]))
  const orgs = await all<Organization>('v1/orgs')
  const lists = await Promise.all(
    orgs.map(async (org) => {
      const found = await all<Site>(`v1/orgs/${encodeURIComponent(org.id)}/sites`)
      return found.map((site) => ({ org, site, week: known.get(site.id) ?? signal<Week | undefined>(undefined) }))
    }),
  )
  return lists.flat()
}

async function refused(org: string, site: string): Promise<number | undefined> {
  try {
    const balance = await call<{ refused: Record<string, number> }>(insights(org, site) + '/events/balance')
    return Object.values(balance.refused).reduce((sum, n) => sum + n, 0)
  } catch (fault) {
    if (fault instanceof Refusal && fault.status === 403) return undefined
    throw fault
  }
}

/** read returns the figures of a site. If a query failed, its figure is null. */
function read(results: Results, turnedAway: number | undefined): Week {
  const good = (name: string) => (results[name]?.status === 200 ? results[name] : undefined)
  const [people, agents, week] = [good('people'), good('agents'), good('week')]
  const { now, before } = people ? single<number>(people.answer, 'peopleCount') : { now: null, before: undefined }
  return {
    people: now,
    peopleBefore: before,
    agents: agents ? single<number>(agents.answer, 'eventsCount').now : null,
    days: week ? series(week.answer, 'peopleCount').map((p) => p.value) : [],
    fresh: people?.headers['Octavo-Fresh-Until'],
    refused: turnedAway,
  }
}

/** gap has the figures of a site whose insights the reader may not see. */
const gap: Week = {
  people: null,
  peopleBefore: undefined,
  agents: null,
  days: [],
  fresh: undefined,
  refused: undefined,
}

/** fill loads the figures of all sites, two sites at a time, because a token may run only two queries concurrently. */
async function fill(list: Entry[], abort: AbortSignal) {
  const queue = [...list]
  const work = async () => {
    for (let e = queue.shift(); e && !abort.aborted; e = queue.shift()) {
      try {
        const [results, turnedAway] = await Promise.all([
          batch(e.org.id, e.site.id, weekOf(state.peek().zone), abort),
          refused(e.org.id, e.site.id),
        ])
        e.week.value = read(results, turnedAway)
      } catch (fault) {
        if (!(fault instanceof Refusal) || ![403, 404].includes(fault.status)) throw fault
        e.week.value = gap
      }
    }
  }
  await Promise.all([work(), work()])
}

const part = (e: Entry) => {
  const w = e.week.value
  return w?.people && w.peopleBefore ? w.people / w.peopleBefore : 0
}
const compare: Record<Order, (a: Entry, b: Entry) => number> = {
  title: (a, b) => a.site.title.localeCompare(b.site.title),
  people: (a, b) => (b.week.value?.people ?? -1) - (a.week.value?.people ?? -1),
  agents: (a, b) => (b.week.value?.agents ?? -1) - (a.week.value?.agents ?? -1),
  change: (a, b) => part(b) - part(a),
}

/** open returns the state that shows a site's overview. */
const open = (e: Entry): Partial<State> => ({ ...elsewhere, view: 'overview', org: e.org.id, site: e.site.id })

export function Sites() {
  const field = useRef<HTMLInputElement>(null)
  const loader = useMemo(
    () =>
      new Loader<Entry[]>(() => ({
        key: 'sites',
        load: async (abort, before, show) => {
          const list = await entries(before ?? [])
          show(list) // shows the rows before their figures
          await fill(list, abort)
          return list
        },
      })),
    [],
  )
  useEffect(() => () => loader.end(), [])
  const load = loader.now.value
  const wanted = searched.value.trim().toLowerCase()
  const list = (load.value ?? [])
    .filter((e) => (e.site.title + ' ' + e.org.title).toLowerCase().includes(wanted))
    .sort(compare[order.value])
  const digits = Object.fromEntries(list.slice(0, 9).map((e, i) => [String(i + 1), () => go(open(e))]))
  useKeys({ ...digits, '/': () => field.current?.focus(), 'r': () => loader.again() })
  return (
    <main id="main" aria-busy={load.busy}>
      <div class="toolbar">
        <h1>{texts.sites}</h1>
        <input
          ref={field}
          type="search"
          aria-label={texts.searchSites}
          placeholder={texts.searchSites + '  /'}
          value={searched.value}
          onInput={(e) => (searched.value = e.currentTarget.value)}
          onKeyDown={(e) => {
            const first = list[0]
            if (e.key === 'Enter' && first) go(open(first))
          }}
        />
      </div>
      <Trouble load={load} again={() => loader.again()} />
      {load.value && <Table list={list} all={load.value.length} />}
      {!load.value && load.busy && (
        <p role="status" class="quiet">
          {texts.loading}
        </p>
      )}
    </main>
  )
}

const columns = texts.siteColumns

function Heading({ id, text }: { id: Order; text: string }) {
  const sorted = order.value === id ? (id === 'title' ? 'ascending' : 'descending') : 'none'
  return (
    <th scope="col" aria-sort={sorted} class={id === 'title' ? '' : 'number'}>
      <button type="button" class="plain" title={texts.sort(text)} onClick={() => (order.value = id)}>
        {text}
        {sorted !== 'none' && <span aria-hidden="true"> {sorted === 'ascending' ? '↑' : '↓'}</span>}
      </button>
    </th>
  )
}

function Table({ list, all: count }: { list: Entry[]; all: number }) {
  if (list.length === 0) return <p class="card nothing">{count ? texts.noSuchSite : texts.noSites}</p>
  return (
    <div class="card sites">
      <table>
        <thead>
          <tr>
            <Heading id="title" text={columns.name} />
            <th scope="col">{columns.week}</th>
            <Heading id="people" text={columns.people} />
            <Heading id="change" text={columns.change} />
            <Heading id="agents" text={columns.agents} />
            <th scope="col" class="number fresh">
              {columns.fresh}
            </th>
            <th scope="col" class="number" title={texts.refusedHint}>
              {columns.refused}
            </th>
          </tr>
        </thead>
        <tbody>
          {list.map((e, i) => (
            <SiteRow key={e.site.id} entry={e} digit={i < 9 ? i + 1 : 0} />
          ))}
        </tbody>
      </table>
    </div>
  )
}

function SiteRow({ entry, digit }: { entry: Entry; digit: number }) {
  const { site, org, week } = entry
  const w = week.value
  const shown = (n: number | null | undefined) => (n === null || n === undefined ? texts.none : count(n))
  return (
    <tr data-site={site.id}>
      <th scope="row">
        <Link to={open(entry)}>{site.title}</Link>
        <span class="quiet"> {org.title}</span>
        {digit > 0 && <kbd aria-hidden="true">{digit}</kbd>}
      </th>
      <td class="spark-cell">{w && <Spark values={w.days} label={texts.sparkline(site.title)} />}</td>
      <td class="number" data-label={columns.people}>
        {w ? shown(w.people) : '…'}
      </td>
      <td class="number" data-label={columns.change}>
        {w && changed(w.people, w.peopleBefore) ? (
          <Delta now={w.people} before={w.peopleBefore} write={count} />
        ) : (
          <span class="quiet">{texts.none}</span>
        )}
      </td>
      <td class="number" data-label={columns.agents}>
        {w ? shown(w.agents) : '…'}
      </td>
      <td class="number fresh quiet" data-label={columns.fresh}>
        {w?.fresh ? clock(w.fresh) : texts.none}
      </td>
      <td class="number" data-label={columns.refused}>
        {shown(w?.refused)}
      </td>
    </tr>
  )
}
