package browsertest

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/octavo-docs/octavo/api"
	"github.com/octavo-docs/octavo/api/apitest"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/schema"
)

// dashboard is a browser tab with the dashboard of a server that returns generated figures.
type dashboard struct {
	*tab
	h       *apitest.Harness
	figures *madeUp
}

func newRows() []any { return []any{"/start", "/guide/webhooks", nil, "DE"} }

// newDashboard starts a server, and a browser that is not signed in.
func newDashboard(t *testing.T) *dashboard {
	t.Helper()
	chromium(t)
	d := &dashboard{figures: &madeUp{rows: newRows()}}
	d.h = apitest.New(t, func(c *frame.Config, deps *api.Deps) {
		c.BaseURL, c.AuthTTL, deps.Insights = "http://127.0.0.1", time.Nanosecond, d.figures
	})
	d.tab = newTab(t, "lang", "en-US")
	d.do(chromedp.EmulateViewport(1280, 900))
	return d
}

// overview returns the path of our site's overview.
func (d *dashboard) overview(more ...string) string {
	q := url.Values{"org": {d.h.Ours.Organization.ID}, "site": {d.h.Ours.Site.ID}, "zone": {"UTC"}}
	for i := 0; i < len(more); i += 2 {
		q.Add(more[i], more[i+1])
	}
	return "/?" + q.Encode()
}

// signIn opens an address, and signs in with the administrator's token on the sign-in page. The browser then shows the
// address.
func (d *dashboard) signIn(address string) {
	d.t.Helper()
	d.open(d.h.Base+address, "#token")
	d.do(chromedp.SendKeys(chromedp.CSS("#token"), d.h.Ours.Tokens[schema.RoleAdmin]+kb.Enter))
	d.shown()
}

// shown waits until the page shows its figures.
func (d *dashboard) shown() {
	d.t.Helper()
	d.until(`document.querySelector('main[aria-busy=false]') && !document.querySelector('#token')`)
}

// eval returns the value of a JavaScript expression in the page, as JSON.
func eval[T any](d *dashboard, expression string) T {
	d.t.Helper()
	return ask(d.tab, chromedp.Evaluate[T](expression))
}

// texts returns the texts of all elements that a selector matches, in the order of the page.
func (d *dashboard) texts(selector string) []string {
	d.t.Helper()
	return eval[[]string](d, fmt.Sprintf(`[...document.querySelectorAll(%q)].map(e => e.textContent)`, selector))
}

// TestDashboardSession signs in with a wrong token and with a valid token, and signs out. After the sign-in, the page
// must show the address that the reader opened. After the session's end, another sign-in must lead to the same address.
// Scripts must be able to read neither the token nor the session.
func TestDashboardSession(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	address := d.overview("range", "last30Days")
	d.open(d.h.Base+address, "#token")
	if !eval[bool](d, `document.activeElement.id === 'token' && !document.querySelector('[autofocus]')`) {
		t.Error("the field of the token has no focus at once")
	}
	d.do(chromedp.SendKeys(chromedp.CSS("#token"), "no token at all"+kb.Enter))
	d.until(`document.querySelector('#wrong').textContent === 'This token is not valid.'`)
	d.do(chromedp.SendKeys(chromedp.CSS("#token"), d.h.Ours.SiteKey+kb.Enter))
	d.until(`document.querySelector('#wrong').textContent.includes('cannot read insights')`)
	d.do(chromedp.SendKeys(chromedp.CSS("#token"), d.h.Ours.Tokens[schema.RoleAdmin]+kb.Enter))
	d.shown()
	if got := strings.TrimPrefix(d.location(), d.h.Base); got != address {
		t.Errorf("the reader is at %s, want %s", got, address)
	}
	if kept := eval[string](d, `document.cookie + JSON.stringify({...localStorage, ...sessionStorage})`); kept != "{}" {
		t.Errorf("scripts can read %s", kept)
	}
	d.h.Exec("update browser_sessions set expires_at = now() - interval '1 second'")
	d.press("r")
	d.until(`document.body.textContent.includes('Your session has ended')`)
	d.do(chromedp.SendKeys(chromedp.CSS("#token"), d.h.Ours.Tokens[schema.RoleAdmin]+kb.Enter))
	d.shown()
	if got := strings.TrimPrefix(d.location(), d.h.Base); got != address {
		t.Errorf("the reader is at %s, want %s", got, address)
	}
	d.run(`[...document.querySelectorAll('.top button')].at(-1).click()`)
	d.until(`document.querySelector('#token')`)
	if held := d.cookies(); len(held) > 0 {
		t.Errorf("the browser keeps %v", held)
	}
	d.quiet()
}

// TestDashboardLink opens a link that signs in. The address must not contain the link's secret afterwards. The link
// must work only once.
func TestDashboardLink(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	link := d.h.Base + d.overview() + "#in=" + d.h.BrowserLink(d.h.Ours.Tokens[schema.RoleAdmin])
	d.open(link, "[data-total=people]")
	d.shown()
	if got := strings.TrimPrefix(d.location(), d.h.Base); got != d.overview() {
		t.Errorf("the address is %s", got)
	}
	again := &dashboard{newTab(t), d.h, d.figures}
	again.open(link, "#token")
	if text := again.text(); !strings.Contains(text, "The link was used") || strings.Contains(again.location(), "#") {
		t.Errorf("%s: %s", again.location(), text)
	}
	d.quiet()
}

// TestDashboardAccessible checks that no page violates a rule of axe, in light and dark mode, also on a phone.
func TestDashboardAccessible(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	look := func(page string) {
		t.Helper()
		d.accessible("dashboard-"+page, 1280, 768, 390)
	}
	d.open(d.h.Base+d.overview(), "#token")
	look("sign-in")
	d.signIn(d.overview("f", "not,urlPath,/start", "f", "is,visitorGeoCountry"))
	look("overview")
	d.press("t")
	d.until(`document.querySelector('.graph-card table')`)
	look("overview-table")
	d.press("?")
	d.until(`document.querySelector('dialog[open]')`)
	look("keys")
	d.press(kb.Escape)
	d.until(`!document.querySelector('dialog[open]')`)
	d.figures.set(func(m *madeUp) { m.zero, m.rows = true, nil })
	d.press("x")
	d.until(`document.querySelector('.nothing pre')`)
	look("empty")
	d.press("s")
	d.shown()
	look("sites")
	d.figures.set(func(m *madeUp) { m.zero, m.rows = false, newRows() })
	for page, more := range map[string][]string{
		"pages": {"view", "pages"}, "pages-rated": {"view", "pages", "tab", "rated"},
		"page": {"view", "pages", "page", "s1/p0"}, "search": {"view", "search"},
	} {
		d.do(chromedp.Navigate(d.h.Base + d.overview(more...)))
		d.shown()
		look(page)
	}
	d.quiet()
}

// TestDashboardKeys uses the page only with the keyboard. After each task, the address must describe the state of the
// page.
func TestDashboardKeys(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	d.signIn("/?zone=UTC")
	d.until(`document.querySelector('tbody tr')`)
	d.press("1")
	d.until(`new URLSearchParams(location.search).get('site') === '` + d.h.Ours.Site.ID + `'`)
	d.shown()
	for _, step := range []struct{ keys, name, want string }{
		{"m", "range", "last30Days"},
		{"d", "range", "today"},
		{"h", "range", "last24Hours"},
		{"w", "range", ""},
		{"c", "compare", "previousYear"},
		{"cc", "compare", "none"},
		{"p", "who", "agents"},
		{"pp", "who", ""},
		{"v", "metric", "people"},
	} {
		for _, key := range step.keys {
			d.press(string(key))
		}
		d.until(fmt.Sprintf(`(new URLSearchParams(location.search).get(%q) ?? '') === %q`, step.name, step.want))
		d.shown()
	}
	// The graph can have the focus. A screen reader then speaks the text of each point.
	d.run(`document.querySelector('.graph').focus()`)
	d.press(kb.ArrowRight)
	d.until(`/Nov 22/.test(document.querySelector('.graph [aria-live]').textContent)`)
	d.press(kb.ArrowRight)
	d.until(`/Nov 23.*People [\d,]+/.test(document.querySelector('.graph [aria-live]').textContent)`)

	// The Enter key on a row of the list of pages adds a filter for this page. The filter can be negated and removed.
	d.run(`document.querySelector('[data-panel=pages] .name').focus()`)
	d.press(kb.Enter)
	filter := func(want string) {
		t.Helper()
		d.until(fmt.Sprintf(`(new URLSearchParams(location.search).get('f') ?? '') === %q`, want))
		d.shown()
	}
	filter("is,urlPath,/start")
	d.run(`document.querySelector('.chip button').focus()`)
	d.press(kb.Enter)
	filter("not,urlPath,/start")
	d.press("x")
	filter("")
	d.run(`history.back()`)
	filter("not,urlPath,/start")

	d.press("?")
	d.until(`document.querySelector('dialog[open]')`)
	d.press(kb.Escape)
	d.until(`!document.querySelector('dialog[open]')`)
	// After the dialog is closed, its button has the focus until the browser paints again. Keys must work during this
	// time.
	d.run(`
		const dialog = document.querySelector('dialog')
		dialog.showModal()
		dialog.close()
		dialog.querySelector('button').dispatchEvent(new KeyboardEvent('keydown', {key: 's', bubbles: true}))`)
	d.until(`!new URLSearchParams(location.search).has('site')`)
	d.shown()
	d.press("/")
	d.until(`document.activeElement.type === 'search'`)
	d.press("no such site")
	d.until(`document.activeElement.value === 'no such site'`)
	d.until(`document.body.textContent.includes('No site has this in its name')`)
	d.quiet()
}

// hostile has texts that visitors could send to inject code into the page, a file or a command.
var hostile = []any{
	`<img src=x onerror="window.broken=1">`, `</script><script>window.broken=1</script>`, `javascript:window.broken=1`,
	`=HYPERLINK("http://evil.test")`, `+1+cmd|' /C calc'!A0`, "a\r\nb,\"c\"", `'; window.broken=1; '`, "‮ lru",
	strings.Repeat("long", 500),
}

// TestDashboardHostile shows the hostile texts. The page, files and commands must contain them as plain text.
func TestDashboardHostile(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	d.figures.set(func(m *madeUp) { m.rows = hostile })
	d.signIn(d.overview())
	for _, panel := range []string{"pages", "searches", "sources", "agents"} {
		names := d.texts("[data-panel=" + panel + "] .name")
		for i, want := range hostile {
			if names[i] != want {
				t.Errorf("%s: %q reads %q", panel, want, names[i])
			}
		}
	}
	for i := range hostile {
		d.run(fmt.Sprintf(`document.querySelectorAll('[data-panel=searches] .name')[%d].click()`, i))
		d.shown()
		d.until(fmt.Sprintf(`document.querySelectorAll('.chip').length === %d`, i+1))
	}
	values := eval[[]string](d, `new URLSearchParams(location.search).getAll('f')`)
	for i, want := range hostile {
		if values[i] != "is,eventSearchQuery,"+want.(string) {
			t.Errorf("%q is in the address as %q", want, values[i])
		}
	}
	d.do(chromedp.Reload())
	d.shown()
	if n := len(d.texts(".chip")); n != len(hostile) {
		t.Errorf("%d filters come back", n)
	}
	d.run(`
		const make = URL.createObjectURL
		URL.createObjectURL = (b) => { b.text().then(t => { window.file = t }); return make(b) }
		HTMLAnchorElement.prototype.click = () => {}
		Object.defineProperty(navigator, 'clipboard', {value: {writeText: async t => { window.command = t }}})
		for (const button of document.querySelectorAll('[data-panel=searches] .menu-items button')) button.click()`)
	d.until(`window.file && window.command`)
	for line := range strings.SplitSeq(eval[string](d, `window.file`), "\r\n") {
		if field := strings.TrimLeft(line, "\ufeff\""); field != "" && strings.ContainsAny(field[:1], "=+-@\t\r") {
			t.Errorf("a spreadsheet runs %s", line)
		}
	}
	if command := eval[string](d, `window.command`); !strings.Contains(command, `'\''; window.broken=1; '\''`) {
		t.Errorf("a shell runs parts of %s", command)
	}
	if eval[bool](d, `'broken' in window`) {
		t.Error("the page has run a visitor's text")
	}
	if wide := eval[int64](d, "document.documentElement.scrollWidth"); wide > 1280 {
		t.Errorf("%d pixels do not fit: %s", wide, eval[string](d, `[...document.querySelectorAll('body *')]
			.filter(e => e.getBoundingClientRect().right > 1280)
			.map(e => e.outerHTML.slice(0, 200)).join('\n')`))
	}
	d.picture("dashboard-hostile")
	d.quiet()
}

// TestDashboardTrouble checks the page's message if figures cannot be loaded. Later the page must load them without a
// click.
func TestDashboardTrouble(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	d.signIn(d.overview())
	says := func(text string) {
		t.Helper()
		d.until(fmt.Sprintf(`document.querySelector('.notice')?.textContent.includes(%q)`, text))
		// The figures that were loaded before must stay.
		if values := d.texts("[data-total=people] strong"); len(values) != 1 || values[0] == "–" {
			t.Errorf("%s: %v", text, values)
		}
	}
	for text, refusal := range map[string]error{
		"Too many requests":       schema.TooManyRequests("too many requests with this token", time.Second),
		"is not ready":            schema.Unavailable(nil, time.Second),
		"The server answered 500": schema.Internal(nil),
	} {
		d.figures.set(func(m *madeUp) { m.refuse = refusal })
		d.press("r")
		says(text)
		d.picture("dashboard-trouble-" + strings.Fields(text)[0])
		d.figures.set(func(m *madeUp) { m.refuse = nil })
		if text == "The server answered 500" {
			d.run(`document.querySelector('.notice button').click()`)
		}
		d.until(`!document.querySelector('.notice')`)
		d.shown()
	}
	d.offline(true)
	d.press("r")
	says("cannot be reached")
	d.offline(false)
	d.until(`!document.querySelector('.notice')`)
	d.shown()
	d.figures.set(func(m *madeUp) { m.broken = map[string]bool{"countries": true, "agentSeries": true} })
	d.press("r")
	d.until(`document.querySelector('.notice')?.textContent.includes('10 of 12 figures came')`)
	if text := d.texts("[data-panel=countries]"); !strings.Contains(text[0], "the query is too heavy") {
		t.Errorf("%v", text)
	}
	d.picture("dashboard-partial")
	d.do(chromedp.Navigate(d.h.Base + strings.Replace(d.overview(), d.h.Ours.Site.ID, d.h.Theirs.Site.ID, 1)))
	d.until(`document.querySelector('.notice')?.textContent.includes('no such site')`)
}

// TestDashboardSize limits the number of bytes that a browser loads until the overview's first figures. It has another
// limit that includes the map, which is loaded later. The browser must load only from our host.
func TestDashboardSize(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	d.signIn("/?zone=UTC")
	var before, after int
	d.figures.set(func(m *madeUp) { before = m.batches })
	d.do(chromedp.Navigate("about:blank"))
	fresh := &dashboard{newTab(t, "lang", "en-US"), d.h, d.figures}
	link := d.h.Base + d.overview() + "#in=" + d.h.BrowserLink(d.h.Ours.Tokens[schema.RoleAdmin])
	fresh.open(link, "[data-total=people]")
	fresh.shown()
	fresh.drawn()
	// The first batch has the figures. The second batch loads titles of paths at the same time as the map.
	if !eval[bool](fresh, `(entries => entries.find(e => e.name.includes('/o/world.')).startTime >
		entries.find(e => e.name.includes('/batch')).responseEnd)(performance.getEntriesByType('resource'))`) {
		t.Error("the map comes before the figures")
	}
	// If the page sent two batches, count only the first. The second batch loads the titles of paths, after the
	// figures.
	loaded := eval[map[string]int](fresh, `Object.fromEntries(
		[...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]
			.reverse().map(e => [e.name, e.transferSize]))`)
	total, later := 0, 0
	for _, address := range slices.Sorted(maps.Keys(loaded)) {
		t.Logf("%6d %s", loaded[address], strings.TrimPrefix(address, d.h.Base))
		if strings.Contains(address, "/o/world.") {
			later += loaded[address]
		} else {
			total += loaded[address]
		}
		if !strings.HasPrefix(address, d.h.Base+"/") {
			t.Errorf("the page loads %s", address)
		}
		for _, word := range []string{"analytics", "stats", "track"} {
			if strings.Contains(address, word) {
				t.Errorf("an ad blocker hides %s", address)
			}
		}
	}
	t.Logf("%d bytes until the first figures, %d with the map", total, total+later)
	const most, mostWithMap = 34 << 10, 60 << 10
	if total == 0 || total > most {
		t.Errorf("%d bytes until the first figures, want at most %d", total, most)
	}
	if later == 0 || total+later > mostWithMap {
		t.Errorf("%d bytes with the map, want at most %d", total+later, mostWithMap)
	}
	d.figures.set(func(m *madeUp) { after = m.batches })
	if after != before+2 {
		t.Errorf("the overview takes %d batches, want a batch of figures and a batch of titles", after-before)
	}
}
