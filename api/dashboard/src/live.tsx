// The view with the live figures of a site. The server computes them once for all pages that are open.
import { useEffect, useMemo } from 'preact/hooks'
import { siteZones, state } from './address'
import { call, insights, type Answer, type Result, type Results } from './api'
import { Curve } from './curve'
import { clock } from './format'
import type { Line } from './graph'
import { useKeys } from './keys'
import { Loader } from './load'
import { panels } from './more_panels'
import { PanelCard } from './panel'
import { Trouble } from './parts'
import { series } from './rows'
import { texts } from './texts'
import { toolTexts } from './tool_texts'
import { counter, Totals, type Total } from './totals'

type Part = 'active' | 'activeAgents' | 'events' | 'people' | 'agents' | 'paths' | 'titles' | 'sources' | 'countries'

/** Live has the figures of the last 30 minutes. Each of its parts has the form of an answer to a query. */
export type Live = { now: string; timezone: string } & Record<Part, Answer>

/** minutes returns two lines of the graph: people and agents in each of the last 30 minutes. */
export const minutes = (live: Live): Line[] => [
  { id: 'people', name: texts.visitors, points: series(live.people, 'peopleCount') },
  { id: 'agents', name: toolTexts.programs, points: series(live.agents, 'visitorsCount') },
]

/** every is the time between two requests, in milliseconds. */
const every = 5000

const total = counter(toolTexts)
const totals: Total[] = [
  total('active', 'active', 'peopleCount'),
  total('activeAgents', 'activeAgents', 'visitorsCount'),
  total('events', 'events', '', {
    read: (answer) => ({
      now: series(answer, 'eventsCount').reduce((sum, point) => sum + point.value, 0),
      before: undefined,
    }),
  }),
]

const lists = { livePaths: 'paths', liveSources: 'sources', liveCountries: 'countries' } as const

export function LiveView() {
  const loader = useMemo(
    () =>
      new Loader<Live>(() => {
        const { org, site } = state.value
        return {
          key: org + ' ' + site,
          load: async (signal) => {
            const live = await call<Live>(insights(org, site) + '/live', { signal })
            siteZones[site] = live.timezone
            return live
          },
        }
      }),
    [],
  )
  const again = () => loader.again()
  useEffect(() => {
    // A hidden page sends no requests. After an error, the loader itself retries.
    const timer = setInterval(() => {
      const { busy, refusal } = loader.now.peek()
      if (!document.hidden && !busy && !refusal) again()
    }, every)
    return () => {
      clearInterval(timer)
      loader.end()
    }
  }, [loader])
  useKeys({ r: again })
  const now = loader.now.value
  const live = now.value
  const results: Results = {}
  for (const [name, answer] of Object.entries(live ?? {})) {
    if (typeof answer === 'object') results[name] = { status: 200, headers: {}, answer } satisfies Result
  }
  return (
    <main id="main" data-view="live" aria-busy={now.busy}>
      <div class="page-head">
        <h2>{texts.viewNames.live}</h2>
        <p class="quiet">{live && <span>{toolTexts.live(clock(live.now))}</span>}</p>
      </div>
      <Trouble load={now} again={again} />
      <Totals totals={totals} results={live && results} />
      <Curve
        title={toolTexts.minutes}
        lines={live && minutes(live)}
        interval="hour"
        cut={{ first: false, last: true }}
      />
      <div class="panels">
        {panels('livePaths', 'liveSources', 'liveCountries').map((p) => (
          <PanelCard
            key={p.id}
            panel={p}
            query={undefined}
            result={results[lists[p.id as keyof typeof lists]]}
            names={p.column === 'urlPath' ? results.titles : undefined}
            busy={now.busy}
          />
        ))}
      </div>
    </main>
  )
}
