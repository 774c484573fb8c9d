// The table of the panels in all views except the overview.
import { country, locale } from './format'
import { asRatings, type Answers, type Ratings } from './rows'
import { moreTexts } from './more_texts'
import { counted, overviewPanels, plain, Rated, read, table, unit, visitors, type Panel } from './panels'
import { texts } from './texts'

/** valued returns the members of a panel for a column that has only a few possible values. */
const valued = (column: string) => ({
  column,
  name: (key: string | null) => (key === null ? moreTexts.unknown : (moreTexts.values[column]?.[key] ?? plain(key))),
  ...counted,
})

const languages = new Intl.DisplayNames(locale, { type: 'language', fallback: 'code' })
/** language returns the name of a language. Events can have any text in place of a language code. */
function language(key: string | null): string {
  try {
    return key ? (languages.of(key) ?? key) : moreTexts.unknown
  } catch {
    return plain(key)
  }
}

const nation = (key: string | null) => (key ? country(key) : texts.unknownCountry)

/** linked returns the text for a link's target. Events can have any text in place of a target. */
function linked(key: unknown): string {
  const target = key as { url?: unknown } | string | null
  return typeof target === 'object' && target ? String(target.url ?? JSON.stringify(target)) : plain(target)
}

/** status returns the text for an HTTP status. */
const status = (key: unknown) => (key === null ? moreTexts.noStatus : String(key))

const method = (key: string | null) => plain(key).toUpperCase()

const operator = { column: 'agentOperator', name: (key: string | null) => key || texts.unknownAgent, ...counted }
const ratedPages = { size: () => 0, show: (value: unknown) => <Rated ratings={value as Ratings} /> }

const units = { ...texts.units, ...moreTexts.units }

const more = table({ ...moreTexts, columns: { ...texts.columns, ...moreTexts.columns } }, [
  {
    id: 'ledHere',
    column: 'eventSearchQuery',
    about: moreTexts.ledHereHint,
    name: plain,
    ...counted,
    unit: unit(units.clicks),
  },
  { id: 'pageSearches', column: 'eventSearchQuery', name: plain, ...counted, unit: unit(units.searches) },
  {
    id: 'links',
    column: 'eventLinkTargetDomain',
    name: (key) => key || moreTexts.ownSite,
    ...counted,
    unit: unit(units.clicks),
  },
  { id: 'comments', column: 'eventPageFeedbackComment', name: plain, ...counted, unit: unit(units.comments) },
  { id: 'addresses', column: 'urlPath', name: plain, ...counted, unit: unit(units.events) },
  { id: 'searched', column: 'eventSearchQuery', name: plain, ...counted, unit: unit(units.searches) },
  { id: 'opened', column: 'eventSearchQuery', name: plain, ...counted, unit: unit(units.clicks) },
  { id: 'questions', column: 'eventSearchQuery', name: plain, ...counted, unit: unit(units.questions) },
  {
    id: 'rated',
    column: 'eventSearchQuery',
    name: plain,
    size: () => 0,
    show: (value) => <Rated ratings={asRatings(value as Answers)} />,
    unit: unit(units.net),
  },
  { id: 'searchPages', column: 'urlPath', opens: true, name: plain, ...counted, unit: unit(units.searches) },

  { id: 'programs', ...valued('visitorBot'), unit: unit(units.reads) },
  { id: 'kinds', ...valued('agentClass'), unit: unit(units.reads) },
  { id: 'agentPages', column: 'urlPath', opens: true, name: plain, ...counted, unit: unit(units.reads) },
  { id: 'missing', column: 'urlPath', lessIsGood: true, name: plain, ...counted, unit: unit(units.reads) },
  { id: 'agentSearches', column: 'eventSearchQuery', name: plain, ...counted, unit: unit(units.questions) },
  { id: 'forms', ...valued('contentForm'), unit: unit(units.reads) },
  { id: 'verified', about: moreTexts.verifiedHint, ...valued('agentVerified'), unit: unit(units.reads) },
  { id: 'sentBy', column: 'sourceName', name: plain, ...counted, unit: unit(units.people) },

  { id: 'channels', ...valued('channel'), unit: visitors },
  { id: 'referrers', column: 'referrerDomain', name: plain, ...counted, unit: visitors },
  { id: 'campaigns', column: 'utmCampaign', name: plain, ...counted, unit: visitors },
  { id: 'mediums', column: 'utmMedium', name: plain, ...counted, unit: visitors },
  { id: 'landing', column: 'urlPath', opens: true, name: plain, ...counted, unit: read },
  { id: 'languages', column: 'visitorLanguage', telling: true, name: language, ...counted, unit: visitors },
  { id: 'devices', ...valued('visitorDevice'), unit: visitors },
  { id: 'browsers', ...valued('visitorBrowser'), unit: visitors },
  { id: 'systems', ...valued('visitorOS'), unit: visitors },
  { id: 'contexts', ...valued('displayContext'), unit: visitors },

  { id: 'brokenFrom', column: 'referrer', lessIsGood: true, name: plain, ...counted, unit: unit(units.requests) },
  { id: 'brokenAgents', lessIsGood: true, ...operator, unit: unit(units.requests) },
  {
    id: 'statuses',
    column: 'httpStatus',
    still: true,
    lessIsGood: true,
    name: status,
    ...counted,
    unit: unit(units.requests),
  },

  { id: 'worstRated', column: 'urlPath', opens: true, name: plain, ...ratedPages, unit: unit(units.net) },
  { id: 'praised', column: 'urlPath', opens: true, name: plain, ...ratedPages, unit: unit(units.net) },
  { id: 'ratedPages', column: 'urlPath', opens: true, name: plain, ...counted, unit: unit(units.ratings) },
  {
    id: 'badPages',
    column: 'urlPath',
    opens: true,
    lessIsGood: true,
    name: plain,
    ...counted,
    unit: unit(units.ratings),
  },
  { id: 'commentedPages', column: 'urlPath', opens: true, name: plain, ...counted, unit: unit(units.comments) },
  { id: 'raterLanguages', column: 'visitorLanguage', name: language, ...counted, unit: unit(units.ratings) },

  { id: 'domains', column: 'eventLinkTargetDomain', name: plain, ...counted, unit: unit(units.clicks) },
  { id: 'targets', column: 'eventLinkTargetValue', still: true, name: linked, ...counted, unit: unit(units.clicks) },
  { id: 'linkPages', column: 'urlPath', opens: true, name: plain, ...counted, unit: unit(units.clicks) },
  { id: 'positions', ...valued('eventLinkPosition'), unit: unit(units.clicks) },
  { id: 'targetKinds', ...valued('eventLinkTargetKind'), unit: unit(units.clicks) },
  { id: 'downloadPages', column: 'urlPath', opens: true, name: plain, ...counted, unit: unit(units.downloads) },

  { id: 'operations', column: 'eventAPIOperationPath', name: plain, ...counted, unit: unit(units.times) },
  { id: 'tried', column: 'eventAPIOperationPath', name: plain, ...counted, unit: unit(units.requests) },
  { id: 'methods', column: 'eventAPIOperationMethod', name: method, ...counted, unit: unit(units.requests) },
  { id: 'operationPages', column: 'urlPath', opens: true, name: plain, ...counted, unit: unit(units.times) },
  { id: 'operationLanguages', column: 'visitorLanguage', name: language, ...counted, unit: unit(units.times) },
  {
    id: 'operationCountries',
    column: 'visitorGeoCountry',
    telling: true,
    name: nation,
    ...counted,
    unit: unit(units.times),
  },

  { id: 'livePaths', column: 'urlPath', still: true, name: plain, ...counted, unit: unit(units.visitors) },
  {
    id: 'liveSources',
    column: 'referrerDomain',
    still: true,
    name: (key) => key || texts.direct,
    ...counted,
    unit: unit(units.visitors),
  },
  {
    id: 'liveCountries',
    column: 'visitorGeoCountry',
    telling: true,
    still: true,
    name: nation,
    ...counted,
    unit: unit(units.visitors),
  },

  { id: 'doors', ...valued('eventDoor'), still: true, unit: unit(texts.units.events) },
  {
    id: 'eventKeys',
    column: 'eventKey',
    still: true,
    name: (key) => key ?? moreTexts.withToken,
    ...counted,
    unit: unit(texts.units.events),
  },
  { id: 'types', ...valued('eventType'), still: true, unit: unit(texts.units.events) },
])

const lists = [...overviewPanels, ...more]
const byID = new Map(lists.map((p) => [p.id, p]))

/** others has the columns that no panel lists. Readers can use these columns in the view explore and in filters. */
const others = Object.entries<string>(moreTexts.columns)
  .filter(([column]) => !lists.some((p) => p.column === column))
  .map(
    ([column, label]): Panel => ({
      id: '',
      title: '',
      none: '',
      column,
      label,
      name: plain,
      ...counted,
      unit: unit(''),
    }),
  )

/** allPanels has, for each column, its title and the function that names its values. */
export const allPanels = [...lists, ...others]

/** panels returns the panels with the given ids. */
export const panels = (...ids: (keyof typeof texts.panels | keyof typeof moreTexts.panels)[]): Panel[] =>
  ids.flatMap((id) => byID.get(id) ?? [])
