// Queries about people and their sources.
import type { State } from './address'
import type { Condition } from './api'
import { ask, external, opened, people, visitors } from './queries'

/** named selects events that have a value in the column. */
const named = (column: string): Condition => ({ column, operator: 'notIn', values: [''] })
const arrived: Condition = { column: 'channel', operator: 'notIn', values: ['internal', 'direct'] }

export function audienceQueries(s: State) {
  const { query, list, series } = ask(s)
  const who = opened[s.who]
  const by = (column: string, ...where: Condition[]) => list(column, visitors(s), [...who, ...where])
  const through = (channel: string) =>
    query(['peopleCount'], [...opened.people, { column: 'channel', values: [channel] }])
  return {
    people: query(['peopleCount', 'sessionsCount', 'engagedTime'], [people]),
    views: query(['eventsCount'], opened.people),
    fromSearch: through('search'),
    sent: through('ai'),
    peopleSeries: series(opened.people),
    channels: by('channel', external),
    sources: by('sourceName', external),
    referrers: by('referrerDomain', external, named('referrerDomain')),
    campaigns: by('utmCampaign', named('utmCampaign')),
    mediums: by('utmMedium', named('utmMedium')),
    landing: list('urlPath', 'eventsCount', [...who, arrived]),
    countries: by('visitorGeoCountry'),
    languages: by('visitorLanguage'),
    devices: by('visitorDevice'),
    browsers: by('visitorBrowser'),
    systems: by('visitorOS'),
    contexts: by('displayContext'),
  }
}
