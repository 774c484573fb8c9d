// The core of the tracker. It sends page views and declarative events to the server's address for browsers (the door).
//
// It stores nothing on the reader's device and reads nothing there. Unsent events are in the page's memory. Only events
// that were sent before the page ends arrive.

// start returns the function octavo(type, more). o has the door's address (url), the opt-outs (dnt, local), and the
// function leave, which adds the last events of a page that is left.
export const start = (o) => {
  if (
    !(o.local || !navigator.webdriver && /^https?:..(?!localhost[:/]|127\.|\[)/.test(location)) ||
    o.dnt != null && (navigator.globalPrivacyControl || +navigator.doNotTrack)
  ) return () => {}

  const waiting = new Set(), since = (time) => Math.max(0, Date.now() - time)
  const queue = []
  let page = {}, url = location.href, referrer = document.referrer, timer, last

  // attempt sends a batch, whose object is also the request's options. All attempts send the same bytes, so that the
  // server stores the batch once.
  const attempt = async (b) => {
    clearTimeout(b.timer)
    waiting.delete(b)
    const r = await fetch(o.url + '?late=' + since(b.age), b)
      .catch((error) => error)
    // Attempts without a network are not counted as tries.
    if (!(r.status < 429 || (b.tries += navigator.onLine) > 4)) {
      waiting.add(b)
      b.timer = setTimeout(attempt, (+r.headers?.get('retry-after') || 3 * 2 ** b.tries) * (1e3 + Math.random() * 1e3), b)
    }
  }

  // flush sends the queue as a batch. It reads the page's title only now, because frameworks set the title after the
  // address.
  const flush = () => {
    page.title = document.title
    queue.map((e) => e.age = since(e.age))
    if (queue[0]) attempt({
      method: 'POST', keepalive: true, tries: 0, age: Date.now(),
      body: JSON.stringify(
        { id: Math.random().toString(36).slice(2) + Date.now(), events: queue.splice(0) },
        (_, v) => v?.slice?.(0, 2e3) ?? v,
      ),
    })
  }

  // An event of a hidden page is sent immediately, because the page may end before a timer fires.
  const track = (type, more) => {
    const e = { ...more, type, url, referrer, language: navigator.language, age: Date.now() }
    clearTimeout(timer)
    timer = setTimeout(flush, 1e3)
    if (queue.push(e) > 9 || document.hidden) flush()
    return e
  }

  // view counts a page view if the page is visible and its address differs from the address that was counted last.
  const view = () => {
    const here = location.pathname
    if (!document.hidden && here != last) {
      o.leave?.()
      flush()
      if (last != null) referrer = url
      url = location.href
      last = here
      page = track('page_view')
    }
  }

  if (window.navigation) navigation.addEventListener('currententrychange', view)
  else {
    const push = history.pushState
    history.pushState = (...a) => {
      push.apply(history, a)
      view()
    }
    addEventListener('popstate', view)
  }
  addEventListener('pageshow', view)
  // A page that the browser restores from its cache counts as viewed again.
  addEventListener('pagehide', () => flush(last = 0))
  addEventListener('visibilitychange', () => document.hidden ? waiting.forEach(attempt, flush()) : view())
  addEventListener('online', () => waiting.forEach(attempt))
  addEventListener('click', (e) => {
    const data = e.target.closest?.('[data-octavo]')?.dataset
    if (data) track(data.octavo, data)
  }, true)
  view()
  return track
}
