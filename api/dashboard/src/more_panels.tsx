// The table of lists of the views that are not the overview.
import { asRatings, type Answers } from './rows'
import { moreTexts } from './more_texts'
import { counted, overviewPanels, plain, Rated, table, unit, type Panel } from './panels'
import { texts } from './texts'

/** path is the path of an address. Events can have any text. */
function path(key: string | null): string {
  try {
    return new URL(key ?? '').pathname
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
])

const byID = new Map([...overviewPanels, ...more].map((p) => [p.id, p]))

/** panels returns the panels of a view. */
export const panels = (...ids: (keyof typeof texts.panels | keyof typeof moreTexts.panels)[]): Panel[] =>
  ids.flatMap((id) => byID.get(id) ?? [])
