// The table of lists of the views that are not the overview.
import { locale } from './format'
import { asRatings, type Answers } from './rows'
import { moreTexts } from './more_texts'
import { counted, overviewPanels, plain, Rated, read, table, unit, visitors, type Panel } from './panels'
import { texts } from './texts'

/** path is the path of an address. Events can have any text. */
function path(key: string | null): string {
  try {
    return new URL(key ?? '').pathname
  } catch {
    return plain(key)
  }
}

/** valued reads a column that has few values. */
const valued = (column: string) => ({
  column,
  name: (key: string | null) => (key === null ? moreTexts.unknown : (moreTexts.values[column]?.[key] ?? plain(key))),
  ...counted,
})

const languages = new Intl.DisplayNames(locale, { type: 'language', fallback: 'code' })
/** language is the name of a language. Events can have any text. */
function language(key: string | null): string {
  try {
    return key ? (languages.of(key) ?? key) : moreTexts.unknown
  } catch {
    return plain(key)
  }
}

const units = { ...texts.units, ...moreTexts.units }

const more = table({ ...moreTexts, columns: { ...texts.columns, ...moreTexts.columns } }, [
  { id: 'before', column: 'referrer', name: path, ...counted, unit: unit(units.views) },
  { id: 'after', column: 'urlPath', opens: true, name: plain, ...counted, unit: unit(units.views) },
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
    unit: unit(units.worst),
  },
  { id: 'searchPages', column: 'urlPath', opens: true, name: plain, ...counted, unit: unit(units.searches) },

  { id: 'programs', ...valued('visitorBot'), unit: unit(units.reads) },
  { id: 'kinds', ...valued('agentClass'), unit: unit(units.reads) },
  { id: 'agentPages', column: 'urlPath', opens: true, name: plain, ...counted, unit: unit(units.reads) },
  { id: 'missing', column: 'urlPath', lessIsGood: true, name: plain, ...counted, unit: unit(units.reads) },
  { id: 'agentSearches', column: 'eventSearchQuery', name: plain, ...counted, unit: unit(units.questions) },
  { id: 'forms', ...valued('contentForm'), unit: unit(units.reads) },
  { id: 'verified', ...valued('agentVerified'), unit: unit(units.reads) },
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
])

const byID = new Map([...overviewPanels, ...more].map((p) => [p.id, p]))

/** panels returns the panels of a view. */
export const panels = (...ids: (keyof typeof texts.panels | keyof typeof moreTexts.panels)[]): Panel[] =>
  ids.flatMap((id) => byID.get(id) ?? [])
