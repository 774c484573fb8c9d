// The view with the settings of a site's insights: zone and hosts, keys and their snippet, the check of the
// installation, share links, tokens and annotations.
import { useEffect, useMemo, useState } from 'preact/hooks'
import { siteZones, state } from './address'
import { address, call, insights, Refusal } from './api'
import { KeptCard } from './kept'
import { useKeys } from './keys'
import { Loader } from './load'
import { Command, Trouble } from './parts'
import { hostsOf, keeps, type Item } from './settings_tables'
import { texts } from './texts'
import { toolTexts } from './tool_texts'

const t = toolTexts.settings

type Known = { timezone: string; weekStart: string; hosts: string[]; respectGPC: boolean; retentionDays?: number }

/** List has the objects of a kind, or the reason why the reader may not see them. */
export type List = { items: Item[]; more: boolean } | { refused: string }
type Loaded = { known: Known; lists: Record<string, List> }

/** most is the largest number of objects of a kind that are shown. If there are more, the newest are shown. */
const most = 50

async function listOf(path: string, signal: AbortSignal): Promise<List> {
  try {
    const { items, next } = await call<{ items: Item[]; next?: unknown }>(`${path}?limit=${most}`, { signal })
    return { items, more: next !== undefined }
  } catch (fault) {
    if (fault instanceof Refusal && fault.status === 403) return { refused: t.mayNot }
    throw fault
  }
}

export function Settings() {
  const loader = useMemo(
    () =>
      new Loader<Loaded>(() => {
        const { org, site } = state.value
        const at = insights(org, site)
        return {
          key: at,
          load: async (signal) => {
            const known = await call<Known>(at + '/settings', { signal })
            siteZones[site] = known.timezone
            const lists = await Promise.all(
              keeps.map(async (k) => [k.id, await listOf(`${at}/${k.id}`, signal)] as const),
            )
            return { known, lists: Object.fromEntries(lists) }
          },
        }
      }),
    [],
  )
  useEffect(() => () => loader.end(), [loader])
  const again = () => loader.again()
  useKeys({ r: again })
  const now = loader.now.value
  const loaded = now.value
  const keys = loaded?.lists.keys
  const key = keys && 'items' in keys ? String(keys.items[0]?.key ?? '') : ''
  return (
    <main id="main" data-view="settings" aria-busy={now.busy}>
      <div class="page-head">
        <h2>{texts.viewNames.settings}</h2>
      </div>
      <Trouble load={now} again={again} />
      {loaded ? (
        <>
          <div class="halves">
            <Zone known={loaded.known} again={again} />
            <Installation site={key} hosts={loaded.known.hosts} />
          </div>
          {keeps.map((k) => (
            <KeptCard key={k.id} kept={k} list={loaded.lists[k.id]} again={again} />
          ))}
        </>
      ) : (
        now.busy && (
          <p role="status" class="quiet">
            {texts.loading}
          </p>
        )
      )}
    </main>
  )
}

/** reasonOf returns the message about an error of a request. */
export const reasonOf = (fault: unknown) =>
  fault instanceof Refusal
    ? fault.status === 403
      ? t.mayNot
      : fault.status === 0
        ? texts.offline
        : fault.message
    : String(fault)

const weekDays = ['monday', 'saturday', 'sunday'] as const

/** Zone shows the form for the settings of queries: the time zone and the first day of the week. */
function Zone({ known, again }: { known: Known; again: () => void }) {
  const { org, site } = state.value
  const [said, say] = useState({ text: '', wrong: false })
  const zones = useMemo(() => [...new Set([known.timezone, 'UTC', ...Intl.supportedValuesOf('timeZone')])], [known])
  const days = weekDays.includes(known.weekStart as 'monday') ? weekDays : [known.weekStart, ...weekDays]
  const save = async (event: SubmitEvent) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget as HTMLFormElement)
    try {
      await call(insights(org, site) + '/settings', {
        method: 'PATCH',
        body: {
          timezone: String(form.get('timezone')),
          weekStart: String(form.get('weekStart')),
          hosts: hostsOf(String(form.get('hosts'))),
        },
      })
      say({ text: t.saved, wrong: false })
      again()
    } catch (fault) {
      say({ text: reasonOf(fault), wrong: true })
    }
  }
  return (
    <section class="card kept" aria-labelledby="zone-title" data-panel="zone">
      <h2 id="zone-title">{t.zone.title}</h2>
      <form onSubmit={(e) => void save(e)}>
        <label>
          {t.zone.timezone}
          <select name="timezone">
            {zones.map((zone) => (
              <option key={zone} value={zone} selected={zone === known.timezone}>
                {zone}
              </option>
            ))}
          </select>
        </label>
        <label>
          {t.zone.weekStart}
          <select name="weekStart">
            {days.map((day) => (
              <option key={day} value={day} selected={day === known.weekStart}>
                {t.zone.days[day as 'monday'] ?? day}
              </option>
            ))}
          </select>
        </label>
        <label>
          {t.zone.hosts}
          <input name="hosts" defaultValue={known.hosts.join(', ')} />
        </label>
        <button type="submit" class="main">
          {t.save}
        </button>
        <span role="status" class={said.wrong ? 'wrong' : 'quiet'}>
          {said.text}
        </span>
      </form>
      <p class="quiet">
        {t.zone.hint} {known.retentionDays ? t.zone.kept(String(known.retentionDays)) : t.zone.keptForEver}
      </p>
    </section>
  )
}

type Verdict = { verdict: keyof typeof t.verdicts; message: string; url: string }

/** Installation shows the snippet with the first key. It also checks whether a page contains the snippet. */
function Installation({ site: key, hosts }: { site: string; hosts: string[] }) {
  const { org, site } = state.value
  const [busy, wait] = useState(false)
  const [said, say] = useState<Verdict | { fault: string } | undefined>(undefined)
  const check = async (event: SubmitEvent) => {
    event.preventDefault()
    const url = String(new FormData(event.currentTarget as HTMLFormElement).get('url'))
    wait(true)
    try {
      say(await call<Verdict>(insights(org, site) + '/installation-check', { method: 'POST', body: { url } }))
    } catch (fault) {
      say({ fault: reasonOf(fault) })
    }
    wait(false)
  }
  const host = hosts.find((h) => !h.startsWith('*'))
  return (
    <section class="card kept" aria-labelledby="installation-title" data-panel="installation">
      <h2 id="installation-title">{t.installation.title}</h2>
      {key ? (
        <>
          <p class="quiet">{texts.setUpPages}</p>
          <Command text={`<script defer src="${address('o.docs.js')}" data-key="${key}"></script>`} />
        </>
      ) : (
        <p class="quiet">{t.installation.noKey}</p>
      )}
      <form onSubmit={(e) => void check(e)}>
        <label>
          {t.installation.page}
          <input
            type="url"
            name="url"
            required
            defaultValue={host ? `https://${host}/` : ''}
            placeholder="https://docs.example.com/"
          />
        </label>
        <button type="submit" disabled={busy}>
          {busy ? t.installation.checking : t.installation.check}
        </button>
      </form>
      <p role="status" data-verdict={said && 'verdict' in said ? said.verdict : ''}>
        {said && 'fault' in said && <span class="wrong">{said.fault}</span>}
        {said && 'verdict' in said && (
          <>
            <b class={said.verdict === 'installed' ? 'right' : 'wrong'}>{t.verdicts[said.verdict]}</b> {said.message}
          </>
        )}
      </p>
    </section>
  )
}
