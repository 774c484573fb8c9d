// The list of broken addresses, and the redirects that repair them.
import { signal } from '@preact/signals'
import { useEffect, useState } from 'preact/hooks'
import { addFilter, state } from './address'
import { Refusal, type Columns } from './api'
import { most } from './broken_queries'
import { clock, count } from './format'
import { ListCard } from './list_card'
import { Dialog } from './parts'
import { RowsTable, type Cell } from './rows_table'
import { plain } from './panels'
import { propose, redirect, siteSpaces, undo, type Proposal, type Target } from './targets'
import { texts } from './texts'
import { toolTexts } from './tool_texts'
import type { Shown } from './views'

type Address = { path: string | null; all: number; people: number | undefined; last: string | null }

const t = toolTexts.broken

const values = (columns: Columns, name: string): unknown[] => columns.find((c) => c.column === name)?.values ?? []

/**
 * read returns the rows of the list. The number of people's requests comes from another query, whose answer arrives
 * later.
 */
function read({ results }: Shown): Address[] {
  const found = results?.addresses
  if (found?.status !== 200) return []
  const { columns } = found.answer
  const people = results?.byPeople
  const ofPeople = new Map<unknown, number>()
  if (people?.status === 200) {
    const hits = values(people.answer.columns, 'eventsCount') as number[]
    values(people.answer.columns, 'urlPath').forEach((path, i) => ofPeople.set(path, hits[i] ?? 0))
  }
  const hits = values(columns, 'eventsCount') as number[]
  const last = values(columns, 'datetime') as string[]
  return (values(columns, 'urlPath') as (string | null)[]).map((path, i) => {
    const all = hits[i] ?? 0
    return { path, all, people: people && (ofPeople.get(path) ?? 0), last: last[i] ?? null }
  })
}

/**
 * Mended is the redirect that the reader has created for an address since the page was opened, or { undone: true }
 * after its undoing.
 */
type Mended = { id: string; to: string } | { undone: true }

/**
 * proposals has the proposal for each broken address. The proposals arrive one after the other. They stay until the
 * reader opens another site.
 */
const proposals = signal<Record<string, Proposal | undefined>>({})
const mended = signal<Record<string, Mended | undefined>>({})
const asked = signal<Address | undefined>(undefined)
let proposed = ''

/** usePropose loads the proposals, for two addresses at the same time. */
function usePropose(org: string, site: string, paths: string[]) {
  const wanted = paths.join('\n')
  useEffect(() => {
    if (proposed !== org + site) {
      proposed = org + site
      proposals.value = {}
      mended.value = {}
    }
    let over = false
    const queue = paths.filter((path) => !(path in proposals.peek()))
    const work = async (spaces: Awaited<ReturnType<typeof siteSpaces>>) => {
      for (let path = queue.shift(); path !== undefined && !over; path = queue.shift()) {
        const proposal = await propose(org, site, path, spaces)
        if (!over) proposals.value = { ...proposals.peek(), [path]: proposal }
      }
    }
    if (queue.length)
      siteSpaces(org, site)
        .then((spaces) => Promise.all([work(spaces), work(spaces)]))
        .catch(() => {
          // after an error there is no proposal, and the reader types a target
          if (over) return
          const rest = Object.fromEntries(paths.map((path) => [path, { target: undefined }]))
          proposals.value = { ...rest, ...proposals.peek() }
        })
    return () => void (over = true)
  }, [org, site, wanted])
}

const cells: [Cell<Address>, ...Cell<Address>[]] = [
  {
    id: 'path',
    label: t.address,
    show: ({ path }) => (
      <button
        type="button"
        class="address"
        onClick={(event) => addFilter({ column: 'urlPath', not: event.altKey, value: path })}
      >
        {plain(path)}
      </button>
    ),
  },
  {
    id: 'people',
    label: texts.whos.people,
    number: true,
    show: ({ people }) => (people === undefined ? '…' : count(people)),
  },
  {
    id: 'agents',
    label: texts.whos.agents,
    number: true,
    show: ({ all, people }) => (people === undefined ? '…' : count(Math.max(0, all - people))),
  },
  { id: 'last', label: t.last, number: true, show: ({ last }) => (last ? clock(last) : texts.none) },
  { id: 'target', label: t.target, show: (row) => <Goal row={row} /> },
]

export function Broken(shown: Shown) {
  const { s, results, asked: queries, busy } = shown
  const rows = read(shown)
  usePropose(
    s.org,
    s.site,
    rows.flatMap((r) => (r.path?.startsWith('/') ? [r.path] : [])),
  )
  const all = results?.addresses?.answer.rowsTotal ?? rows.length
  return (
    <>
      <ListCard
        id="addresses"
        title={t.title}
        about={t.about}
        query={queries.addresses}
        result={results?.addresses}
        busy={busy}
        none={t.none}
        rows={rows.length}
      >
        <RowsTable cells={cells} rows={rows} keyOf={(r) => String(r.path)} />
        {all > rows.length && <p class="quiet more">{t.ofMost(count(Math.min(most, rows.length)), count(all))}</p>}
      </ListCard>
      <Mend />
    </>
  )
}

/** Goal shows the target to which an address leads, or the proposed target. */
function Goal({ row }: { row: Address }) {
  const [fault, say] = useState('')
  const { org, site } = state.value
  const path = row.path
  if (!path?.startsWith('/')) return <span class="quiet">{texts.none}</span>
  const done = mended.value[path]
  if (done && 'id' in done) {
    const back = async () => {
      try {
        await undo(org, site, done.id)
        mended.value = { ...mended.peek(), [path]: { undone: true } }
      } catch (refusal) {
        say(told(refusal))
      }
    }
    return (
      <span class="goal" role="status">
        <span>{t.leads(done.to)}</span>
        <button type="button" class="small" onClick={() => void back()}>
          {t.undo}
        </button>
        <span class="wrong">{fault}</span>
      </span>
    )
  }
  const proposal = proposals.value[path]
  if (proposal && 'leads' in proposal) return <span class="goal quiet">{t.leads(proposal.leads)}</span>
  if (proposal && 'here' in proposal) return <span class="goal quiet">{t.here(proposal.here)}</span>
  const target = proposal?.target
  return (
    <span class="goal">
      <span role="status">{done ? t.undone : ''}</span>
      {target ? (
        <span title={target.path}>
          {target.title || target.path} <span class="quiet">{t.why[target.why]}</span>
        </span>
      ) : (
        <span class="quiet">{proposal ? t.noTarget : t.looking}</span>
      )}
      <button type="button" class="small" aria-label={t.redirectFrom(path)} onClick={() => (asked.value = row)}>
        {t.redirect}
      </button>
    </span>
  )
}

const told = (fault: unknown) =>
  fault instanceof Refusal
    ? fault.status === 403
      ? t.mayNot
      : fault.status
        ? fault.message
        : texts.offline
    : String(fault)

/** Mend is the dialog in which the reader chooses a target and creates the redirect. */
function Mend() {
  const row = asked.value
  const close = () => (asked.value = undefined)
  return (
    <Dialog title={row ? t.redirectFrom(row.path ?? '') : ''} open={row !== undefined} close={close}>
      {row?.path && <MendForm key={row.path} path={row.path} close={close} />}
    </Dialog>
  )
}

function MendForm({ path, close }: { path: string; close: () => void }) {
  const { org, site } = state.value
  const proposal = proposals.value[path]
  const target: Target | undefined = proposal && 'target' in proposal ? proposal.target : undefined
  const [fault, say] = useState('')
  const [busy, wait] = useState(false)
  const [elsewhere, choose] = useState(!target)
  const submit = async (event: SubmitEvent) => {
    event.preventDefault()
    const url = String(new FormData(event.currentTarget as HTMLFormElement).get('url') ?? '')
    wait(true)
    try {
      const made = await redirect(
        org,
        site,
        path,
        target && !elsewhere
          ? { kind: 'site-page', siteSpaceId: target.siteSpace, pageId: target.page }
          : { kind: 'external', url },
      )
      mended.value = {
        ...mended.peek(),
        [path]: { id: made.id, to: target && !elsewhere ? target.title || target.path : url },
      }
      close()
    } catch (refusal) {
      say(told(refusal))
    }
    wait(false)
  }
  return (
    <form class="mend" onSubmit={(e) => void submit(e)}>
      <p>{t.asks}</p>
      {target && (
        <label>
          <input type="radio" name="to" checked={!elsewhere} onChange={() => choose(false)} /> {target.title}{' '}
          <span class="quiet">
            {target.path} · {t.why[target.why]}
          </span>
        </label>
      )}
      {target && (
        <label>
          <input type="radio" name="to" checked={elsewhere} onChange={() => choose(true)} /> {t.other}
        </label>
      )}
      {elsewhere && (
        <label>
          {t.otherAddress}
          <input type="url" name="url" required pattern="https?://.*" placeholder="https://docs.example.com/new" />
        </label>
      )}
      <p class="wrong" role="alert">
        {fault}
      </p>
      <button type="submit" class="main" disabled={busy}>
        {t.redirect}
      </button>
    </form>
  )
}
