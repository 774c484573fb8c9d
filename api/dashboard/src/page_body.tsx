// PageBody is what the view of a page shows between its graph and its lists.
import { Merged } from './merged'
import { Steps } from './steps'
import type { Shown } from './views'

export function PageBody(shown: Shown) {
  return (
    <>
      <Merged />
      <Steps {...shown} />
    </>
  )
}
