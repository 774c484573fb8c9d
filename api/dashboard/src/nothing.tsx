// The message of a view if its range has no events. On the overview, it explains how to send events.
import { useEffect, useState } from 'preact/hooks'
import { go, state } from './address'
import { address, call, insights } from './api'
import { Command } from './parts'
import { texts } from './texts'

/**
 * useKey loads the text of the site's first publishable key. It returns undefined if the site has no key, or if the
 * reader may not see keys.
 */
function useKey(org: string, site: string, wanted: boolean): string | undefined {
  const [key, found] = useState<string | undefined>(undefined)
  useEffect(() => {
    if (!wanted) return
    const abort = new AbortController()
    call<{ items: { key: string }[] }>(insights(org, site) + '/keys', { signal: abort.signal }).then(
      (list) => found(list.items[0]?.key),
      () => found(undefined),
    )
    return () => abort.abort()
  }, [org, site, wanted])
  return key
}

/** Nothing is the message that the range of a view has no events. */
export function Nothing({
  says,
  hint,
  setUp,
}: {
  says: (range: string) => string
  hint: string | undefined
  setUp: boolean
}) {
  const { org, site, range, filters } = state.value
  const key = useKey(org, site, setUp)
  const name = typeof range === 'string' ? range : 'custom'
  if (filters.length > 0) {
    return (
      <section class="card nothing">
        <h2>{texts.nothingFiltered}</h2>
        <button type="button" class="main" onClick={() => go({ filters: [] })}>
          {texts.clearFilters}
        </button>
      </section>
    )
  }
  const server = address('').replace(/\/$/, '')
  const own = `export OCTAVO_URL=${server} OCTAVO_ORG=${org} OCTAVO_SITE=${site}`
  const make = [
    own,
    `curl -s $OCTAVO_URL/v1/orgs/$OCTAVO_ORG/sites/$OCTAVO_SITE/insights/keys \\`,
    `  -H "Authorization: Bearer $OCTAVO_TOKEN" -H 'Content-Type: application/json' \\`,
    `  -d '{"name":"Pages","hosts":["docs.example.com"]}'`,
    `bin/octavo site snippet $OCTAVO_SITE`,
  ].join('\n')
  return (
    <section class="card nothing">
      <h2>{says(texts.rangeNames[name])}</h2>
      {hint && <p>{hint}</p>}
      {range !== 'last30Days' && (
        <button type="button" class="main" onClick={() => go({ range: 'last30Days' })}>
          {texts.longer}
        </button>
      )}
      {setUp && (
        <>
          <h3>{texts.setUp}</h3>
          <p>{key ? texts.setUpPages : texts.setUpKey}</p>
          <Command text={key ? `<script defer src="${server}/o.docs.js" data-key="${key}"></script>` : make} />
          <p>{texts.setUpSeed}</p>
          <Command text={`${own}\nbin/octavo seed --events 200000`} />
        </>
      )}
    </section>
  )
}
