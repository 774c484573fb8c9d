// Functions that sign the reader in and out. They do not store tokens or links.
import { call, Refusal } from './api'
import { session } from './load'
import { texts } from './texts'

/** signIn exchanges a token for the session's cookie. If the token is refused, it returns the message. */
export async function signIn(token: string): Promise<string | undefined> {
  try {
    await call('o/session', { method: 'POST', token })
  } catch (fault) {
    if (!(fault instanceof Refusal)) return texts.wrongToken // no header can contain the text
    if (fault.status === 401) return texts.wrongToken
    if (fault.status === 403) return texts.wrongKind
    return fault.status ? texts.failed(fault.status) : texts.offline
  }
  session.value = 'in'
  return undefined
}

export async function signOut() {
  await call('o/session', { method: 'DELETE' })
  session.value = 'out'
}

/** arrive signs in with the secret of a link, or with the code of a single sign-on, if the address has one. */
export async function arrive(): Promise<string | undefined> {
  const link = /^#in=(.+)$/.exec(location.hash)?.[1]
  const query = new URLSearchParams(location.search)
  const code = query.get('code')
  if (!link && !code) return undefined
  query.delete('code')
  // Remove the secret and the code from the browser's history.
  history.replaceState(null, '', location.pathname + (query.size ? '?' + query.toString() : ''))
  try {
    if (link) await call('o/session/link', { method: 'POST', body: { link } })
    else return await signIn((await call<{ token: string }>('v1/sso/token', { method: 'POST', body: { code } })).token)
  } catch (fault) {
    const status = fault instanceof Refusal ? fault.status : -1
    if (status === 0) return texts.offline
    return status === 429 || status >= 500 ? texts.failed(status) : texts.linkUsed
  }
  return undefined
}
