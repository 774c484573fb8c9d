// Queries about links that readers followed.
import type { State } from './address'
import type { Condition } from './api'
import { ask, sent, type } from './queries'

/** outside selects links to other sites. Links to pages and files of the site itself have no host. */
const outside: Condition = { column: 'eventLinkTargetDomain', operator: 'notIn', values: [null] }

export function linkQueries(s: State) {
  const { query, list, series } = ask(s)
  const clicks = [...sent[s.who], type('link_click')]
  const away = [...clicks, outside]
  const inside = [...clicks, { column: 'eventLinkTargetDomain', values: [null] }]
  return {
    away: query(['eventsCount', 'peopleCount'], away),
    clicks: query(['eventsCount'], clicks),
    inside: query(['eventsCount'], inside),
    downloads: query(['eventsCount'], [...sent[s.who], type('file_download')]),
    awaySeries: series(away),
    insideSeries: series(inside),
    domains: list('eventLinkTargetDomain', 'eventsCount', away),
    targets: list('eventLinkTargetValue', 'eventsCount', away),
    linkPages: list('urlPath', 'eventsCount', away),
    positions: list('eventLinkPosition', 'eventsCount', away),
    targetKinds: list('eventLinkTargetKind', 'eventsCount', clicks),
    downloadPages: list('urlPath', 'eventsCount', [...sent[s.who], type('file_download')]),
  }
}
