// The extension for documentation sites. It sends events about links, downloads, engaged time and depth, searches,
// copied code and feedback.

// These selectors find the rows of search results. The first selector is for DocSearch, VitePress and other searches
// that set roles. The next selectors are for Material for MkDocs and Pagefind. The last selector is for mdBook, Sphinx
// and MkDocs, where each row has a link.
const rows = '[role=option],.md-search-result__item,.pagefind-ui__result,[id*=search][id$=results] a'

// extend adds the extension to a tracker that start returned for the options o.
export const extend = (o, track) => {
  const on = (type, f) => document.addEventListener(type, f, true)

  // Engaged time grows while the page has the focus. bottom is the lowest point of the page that was visible.
  let from, spent = 0, bottom = 0, sent = 0
  const clock = () => {
    const now = performance.now()
    if (from) spent += now - from
    from = document.hasFocus() && now
  }
  const see = () => bottom = Math.max(bottom, scrollY + innerHeight)
  const leave = () => {
    settle(2)
    see()
    clock()
    const seconds = Math.round(spent / 1e3)
    const depth = Math.min(100, Math.round(bottom / document.documentElement.scrollHeight * 100))
    if (seconds > 2 || depth > sent) {
      track('page_leave', { seconds, depth })
      spent = 0
      sent = depth
    }
  }
  o.leave = () => {
    leave()
    spent = bottom = sent = query = 0
  }
  // The core listens at the window, whose listeners run later. So it sends the events that are added here.
  on('visibilitychange', () => document.hidden ? leave() : clock())
  on('scroll', see)
  addEventListener('focus', clock)
  addEventListener('blur', clock)
  clock()

  // A typed query is sent when it has results, or when it has no results after another two seconds. If the reader
  // leaves the search earlier, it is unknown whether the query has results.
  let input, query, timer, button
  const settle = (sure) => {
    const typed = input?.value.trim()
    const resultsCount = input?.getClientRects()[0] && document.querySelectorAll(rows).length
    clearTimeout(timer)
    if (typed?.[1] && typed != query) {
      if (resultsCount || sure) {
        query = typed
        track('search_type_query', { query, resultsCount: sure > 1 ? resultsCount || null : resultsCount })
      } else timer = setTimeout(settle, 2e3, 1)
    }
  }
  const open = (link) => {
    settle(2)
    track('search_open_result', { query, result: { recordId: link.href.slice(0, 256) } })
  }
  on('input', (e) => {
    if (e.target.matches('input[type=search],input[class*=search i],input[id*=search i]')) {
      input = e.target
      clearTimeout(timer)
      timer = setTimeout(settle, 1e3)
    }
  })
  on('keydown', (e) => {
    const link = e.key == 'Enter' && e.target == input && document.querySelector('[aria-selected=true] a')
    if (link) open(link)
  })

  const click = (e) => {
    const near = (selector) => e.target.closest(selector), a = near('a[href]')
    button = near('button')
    if (e.button > 1) return
    if (a?.closest(rows)) open(a)
    else if (/^http/.test(a?.protocol)) {
      const file = /\.(pdf|zip|[gx]z|tgz|dmg|exe|msi|deb|rpm|csv|json|ya?ml|whl|jar)$/i.test(a.pathname)
      if (file || a.host != location.host) {
        track(file ? 'file_download' : 'link_click', {
          link: {
            target: { kind: 'url', url: a.href },
            position: near('aside,nav[class*=idebar],[class*=idebar_],.sphinxsidebar') ? 'sidebar'
              : near('footer') ? 'footer' : near('header,nav') ? 'header' : 'content',
          },
        })
      }
    }
    if (/copy|clip/i.test(button?.outerHTML)) copied(button)
  }
  on('click', click)
  on('auxclick', click)

  const copied = (element) => {
    if (element?.closest('pre,figure,[class*=language-],.highlight')) track('code_copy')
  }
  // Some copy buttons select the text, and so cause a copy event too. This event is ignored. A reader who copies a
  // selection has clicked elsewhere.
  on('copy', (e) => button || copied(e.target.closest?.('pre')))

  // This is the feedback form of Material for MkDocs.
  on('submit', (e) => {
    const value = e.submitter?.dataset.mdValue
    if (value) track('page_post_feedback', { feedback: { rating: value > 0 ? 'good' : 'bad' } })
  })
}
