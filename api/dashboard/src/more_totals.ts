// The totals of the views that are not the overview.
import { share } from './format'
import { moreTexts } from './more_texts'
import { asRatings, type Answers } from './rows'
import { counter, engaged, helpfulTotal, people, rating, reads, views, type Total } from './totals'

const total = counter(moreTexts)

export const pageTotals: Total[] = [
  people,
  views,
  reads,
  engaged,
  total('depth', 'people', 'meanScrollDepth', { write: (percent) => share(percent / 100) }),
  helpfulTotal,
]

export const searchTotals: Total[] = [
  total('typed', 'typed'),
  total('missed', 'missed'),
  total('results', 'results'),
  total('searchers', 'typed', 'peopleCount'),
  total('asked', 'asked'),
  total(
    'answers',
    'answers',
    '',
    rating('askResponseRating', (v) => asRatings(v as Answers | null)),
  ),
]
