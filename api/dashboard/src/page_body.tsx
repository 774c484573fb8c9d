// PageBody is the part of a page's view between the graph and the lists.
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
