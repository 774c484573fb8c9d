package browsertest

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/octavo-docs/octavo/api/apitest"
	"github.com/octavo-docs/octavo/schema"
)

// TestDocsOpenAtOnce opens the first page. It checks the number of bytes and the host of each request, and logs the
// loading time.
func TestDocsOpenAtOnce(t *testing.T) {
	t.Parallel()
	chromium(t)
	h := apitest.New(t)
	h.Do("GET", "/docs", "", nil) // the first request makes the server build all pages
	b := newTab(t)
	b.open(h.Base+"/docs", "#find")
	b.until("performance.getEntriesByType('navigation')[0].loadEventEnd > 0")
	const entries = "[...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]"
	const most = 60 << 10
	bytes := ask(b, chromedp.Evaluate[int](entries+".reduce((sum, e) => sum + e.transferSize, 0)"))
	took := ask(b, chromedp.Evaluate[float64]("performance.getEntriesByType('navigation')[0].loadEventEnd"))
	t.Logf("the first page has %d bytes on the wire, and is there after %.0f ms", bytes, took)
	if bytes == 0 || bytes > most {
		t.Errorf("the first page has %d bytes on the wire, want at most %d", bytes, most)
	}
	b.press("/funnel")
	b.until("document.querySelector('#found li')")
	requested := ask(b, chromedp.Evaluate[[]string](entries+".map(e => e.name)"))
	if len(requested) < 4 {
		t.Errorf("the page requests %v", requested)
	}
	for _, address := range requested {
		if !strings.HasPrefix(address, h.Base+"/docs") {
			t.Errorf("the page requests %s", address)
		}
	}
	b.quiet()
}

// TestDocsByKeyboard finds an operation with only the keyboard, and chooses a programming language. The next page must
// use the same language. It sends a request with a pasted token, which the browser must not store.
func TestDocsByKeyboard(t *testing.T) {
	t.Parallel()
	chromium(t)
	h := apitest.New(t)
	b := newTab(t)
	find := func(words, id string) {
		t.Helper()
		b.press("/" + words)
		b.until(`document.getElementById('find').value === '` + words + `'`)
		b.until(`document.querySelector('#found [aria-selected="true"]')?.textContent.startsWith('` + id + `')`)
		b.press(kb.Enter)
		b.until("location.hash === '#" + id + "' && document.getElementById('" + id + "')")
		// The bars at the top of the page must not cover the operation's heading.
		b.until("document.querySelector('#" + id + " h2').getBoundingClientRect().top < 160")
		b.until("document.querySelector('#" + id + " h2').getBoundingClientRect().top >= " +
			"document.querySelector('.languages').getBoundingClientRect().bottom")
	}
	b.open(h.Base+"/docs", "#find")
	find("events funnel", "getSiteEventsFunnel")
	if where := b.location(); where != h.Base+"/docs/insights#getSiteEventsFunnel" {
		t.Errorf("the search leads to %s", where)
	}
	b.do(chromedp.Click(chromedp.CSS("#in-go")))
	b.until("getComputedStyle(document.querySelector('#getSiteEventsFunnel .in-go')).display === 'block'")
	b.until("getComputedStyle(document.querySelector('#getSiteEventsFunnel .in-curl')).display === 'none'")
	find("GET /v1/user", "getAuthenticatedUser")
	b.until("document.querySelector('#in-go').checked")
	token := h.Ours.Tokens[schema.RoleAdmin]
	b.do(chromedp.Focus(chromedp.CSS("#getAuthenticatedUser .try")))
	b.press(kb.Enter)
	b.until("document.activeElement.matches('#getAuthenticatedUser input[type=password]')")
	b.press(token + kb.Enter)
	b.until("document.querySelector('#getAuthenticatedUser output pre')")
	if text := b.text(); !strings.Contains(text, "200") || !strings.Contains(text, `"object": "user"`) {
		t.Errorf("the request from the page answers %s", text)
	}
	kept := ask(b, chromedp.Evaluate[string]("JSON.stringify({...localStorage, ...sessionStorage}) + document.cookie"))
	if strings.Contains(kept, token) || len(b.cookies()) > 0 {
		t.Errorf("the browser keeps %s", kept)
	}
	b.quiet()
}

// TestDocsSearchRecovers uses a search index that fails to load at first: no answer, an error, and invalid JSON. The
// page must show the error. After the next letter is typed, it must find the operation.
func TestDocsSearchRecovers(t *testing.T) {
	t.Parallel()
	chromium(t)
	h := apitest.New(t)
	b := newTab(t)
	for _, broken := range []string{
		"Promise.reject(new TypeError('no network'))", "Promise.resolve(new Response('[]', {status: 503}))",
		"Promise.resolve(new Response('<html>'))",
	} {
		b.open(h.Base+"/docs", "#find")
		b.until("(window.send = window.fetch, window.fetch = () => " + broken + ")")
		b.press("/funne")
		b.until("document.querySelector('#found .none')?.textContent.startsWith('The search did not load')")
		b.until("document.querySelector('.count').textContent.startsWith('The search did not load')")
		b.until("window.fetch = window.send")
		b.press("l")
		b.until("document.querySelector('#found [aria-selected=\"true\"]')?.textContent.includes('Funnel')")
	}
	b.quiet()
}

// TestDocsAccessible checks pages of each kind, in light and dark mode, on a desktop and a phone. Each page must fit
// the screen, and must not violate axe's rules.
func TestDocsAccessible(t *testing.T) {
	t.Parallel()
	chromium(t)
	h := apitest.New(t)
	b := newTab(t)
	for _, page := range []string{"", "/operations", "/insights", "/sso", "/cookbook", "/privacy"} {
		b.open(h.Base+"/docs"+page, "#find")
		b.accessible("docs"+strings.ReplaceAll(page, "/", "-"), 1280, 390)
	}
	b.quiet()
}
