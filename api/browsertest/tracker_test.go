package browsertest

import (
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestTracker opens pages that load the tracker's core. It checks page views, the next page, and events from attributes
// and scripts. The browser must send no preflight requests, and must store nothing.
func TestTracker(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	const title = `</script><img src=x onerror=alert(1)> "quoted" \ ‮ 😀`
	escaped := strings.ReplaceAll(strings.ReplaceAll(title, `\`, `\\`), "</", `<\/`)
	head := d.tag("o", "")
	base := site(t, map[string]string{
		"/": `<title></title>` + head + d.tag("o", "") + `<h1 id="octavo">Octavo</h1><a id="next" href="/next?x=1#part">Next</a>
			<script>document.title = ` + "`" + escaped + "`" + `</script>`,
		"/next": `<title>Next</title>` + head + `<button id="buy" data-octavo="ask_question" data-query="why"><b id="in">Why?</b></button>`,
	})
	b := newReader(t)
	b.open(base+"/", "#next")
	first := d.await("page_view", 1)[0]
	first.has(t, event{"title": title, "url": base + "/", "referrer": ""})
	if first.text("language") == "" {
		t.Errorf("%v", first)
	}
	if age, ok := first["age"].(float64); !ok || age < 900 || age > 60_000 || age != float64(int(age)) {
		t.Errorf("the age is %v", first["age"])
	}
	b.do(chromedp.Click(chromedp.CSS("#next")), chromedp.WaitVisible(chromedp.CSS("#in")))
	b.do(chromedp.Click(chromedp.CSS("#in")))
	b.run(`octavo('api_client_open', {operation: {path: '/x'}, type: 'page_view'})`)
	asked, opened, next := d.await("ask_question", 1)[0], d.await("api_client_open", 1)[0], d.await("page_view", 2)[1]
	next.has(t, event{"url": base + "/next?x=1#part", "referrer": base + "/", "title": "Next"})
	if asked.text("query") != "why" || asked.text("url") != base+"/next?x=1#part" || opened["operation"] == nil {
		t.Errorf("%v %v", asked, opened)
	}
	d.simple()
	if held := b.cookies(); len(held) > 0 {
		t.Errorf("the browser keeps %v", held)
	}
	if kept := ask(b, chromedp.Evaluate[int](`localStorage.length + sessionStorage.length`)); kept != 0 {
		t.Errorf("the page keeps %d values", kept)
	}
}

// TestTrackerStaysSilent opens pages for which the tracker must send no events, for example because the reader opted
// out. At the end it opens a page that the tracker counts. When this page's event arrives, the events of the other
// pages would have arrived too.
func TestTrackerStaysSilent(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	override := func(name, value string) string {
		return `<script>Object.defineProperty(navigator, '` + name + `', {value: ` + value + `})</script>`
	}
	plain := func(s string) string { return strings.Replace(s, `data-local="on"`, "", 1) }
	base := site(t, map[string]string{
		"/program": `<p id="in">x` + plain(d.tag("o", "")),
		"/local":   override("webdriver", "false") + `<p id="in">x` + plain(d.tag("o", "")),
		"/dnt":     override("doNotTrack", "'1'") + `<p id="in">x` + d.tag("o", "data-dnt"),
		"/gpc":     override("globalPrivacyControl", "true") + `<p id="in">x` + d.tag("o", "data-dnt"),
		"/dnt-off": override("doNotTrack", "'1'") + `<p id="in">x` + d.tag("o", ""),
		"/allowed": override("doNotTrack", "null") + `<p id="in">x` + d.tag("o", "data-dnt"),
		"/person":  override("webdriver", "false") + `<p id="in">x` + plain(d.tag("o", "")),
	})
	b := newReader(t)
	var want []string
	for _, page := range []string{"/program", "/local", "/dnt", "/gpc", "/dnt-off", "/allowed", "/person"} {
		address := base + page
		if page == "/local" {
			address = strings.Replace(address, "docs.test", "localhost", 1)
		}
		b.open(address, "#in")
		b.run(`octavo('ask_view')`)
		if page == "/dnt-off" || page == "/allowed" || page == "/person" {
			want = append(want, address)
		}
		// When the reader leaves the page, the tracker sends the pending events.
		b.open("about:blank", "html")
	}
	var got []string
	for _, e := range d.await("page_view", len(want)) {
		got = append(got, e.text("url"))
	}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("counted are %v, want %v", got, want)
	}
	d.await("ask_view", len(want))
}

// TestTrackerSteps opens pages of a single-page application, in browsers with and without the Navigation API.
func TestTrackerSteps(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]string{
		"navigation": "", "history": `<script>Object.defineProperty(window, 'navigation', {value: undefined})</script>`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDoor(t)
			base := site(t, map[string]string{"/a": before + `<title>A</title><p id="in">x` + d.tag("o", "")})
			b := newReader(t)
			b.open(base+"/a", "#in")
			b.run(`octavo('ask_view'); history.pushState({}, '', '/b?x=1'); document.title = 'B'`)
			// The following changes of the address do not count as another page: another fragment, a typed search, and
			// the same address again.
			b.run(`history.replaceState({}, '', '/b?q=s'); history.pushState({}, '', '/b?q=s#part')
				location.hash = 'other'`)
			b.run(`history.pushState({}, '', '/c'); setTimeout(() => document.title = 'C')`)
			views := d.await("page_view", 3)
			for i, want := range []event{
				{"url": base + "/a", "title": "A", "referrer": ""},
				{"url": base + "/b?x=1", "title": "B", "referrer": base + "/a"},
				{"url": base + "/c", "title": "C", "referrer": base + "/b?x=1"},
			} {
				for member, value := range want {
					if views[i][member] != value {
						t.Errorf("view %d has %s %v, want %v", i, member, views[i][member], value)
					}
				}
			}
			b.run(`history.go(-4)`)
			if back := d.await("page_view", 4)[3]; back.text("url") != base+"/a" && back.text("url") != base+"/b?q=s" {
				t.Errorf("%v", back)
			}
			d.simple()
		})
	}
}

// TestTrackerTries makes requests fail. All attempts of a batch must have the same body, and must report the time since
// the first attempt. The tracker must wait as long as the server requests, and must not repeat a refused request.
func TestTrackerTries(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	base := site(t, map[string]string{"/": `<p id="in">x` + d.tag("o", "")})
	refuse := func(status int, wait string) func(http.ResponseWriter, int) {
		return func(w http.ResponseWriter, _ int) {
			w.Header().Set("Retry-After", wait)
			w.WriteHeader(status)
		}
	}
	b := newReader(t)

	// The first two answers are 503. Then the batch is accepted, but the answer is lost. The next answer is a success.
	d.answers(func(w http.ResponseWriter, n int) {
		switch n {
		case 1, 2:
			refuse(503, "1")(w, n)
		case 3:
			panic(http.ErrAbortHandler)
		default:
			w.WriteHeader(http.StatusNoContent)
		}
	})
	b.open(base, "#in")
	d.awaitTries(4)
	tries := d.tries()
	for i, a := range tries {
		if a.id != tries[0].id || a.body != tries[0].body {
			t.Errorf("attempt %d differs: %s", i, a.body)
		}
		// If a connection ends without an answer, Chromium itself may repeat the request immediately.
		least := 0
		switch {
		case i > 2:
			least = tries[i-1].late
		case i > 0:
			least = tries[i-1].late + 900
		}
		if a.late < least || i == 0 && a.late > 500 {
			t.Errorf("attempt %d is late by %d", i, a.late)
		}
	}
	d.await("page_view", 1)

	// The tracker must not repeat a refused batch, unless the status is 429. After five attempts it must drop the
	// batch.
	b.open("about:blank", "html")
	d.answers(refuse(403, "1"))
	b.open(base, "#in")
	d.awaitTries(1)
	d.answers(refuse(429, "0.1"))
	b.run(`octavo('ask_view')`)
	d.awaitTries(5)
	d.answers(nil)
	b.run(`octavo('search_open')`)
	d.await("search_open", 1)
	if more := d.tries(); len(more) != 1 {
		t.Errorf("further attempts: %v", more)
	}
	d.simple()
}

// TestTrackerCloses leaves pages in every possible way while events are not sent yet. All of these events must arrive.
func TestTrackerCloses(t *testing.T) {
	t.Parallel()
	head := `<p id="in">x`
	first := newReader(t)
	leave := map[string]func(b *tab, base string){
		"close":    func(b *tab, _ string) { b.close() },
		"navigate": func(b *tab, base string) { b.run(`location.href = '` + base + `/other'`) },
		"link":     func(b *tab, _ string) { b.do(chromedp.Click(chromedp.CSS("#away"))) },
		"reload":   func(b *tab, _ string) { b.run(`location.reload()`) },
	}
	for name, leave := range leave {
		t.Run(name, func(t *testing.T) {
			d := newDoor(t)
			base := site(t, map[string]string{
				"/":      head + d.tag("o.docs", "") + `<a id="away" href="http://away.test/">away</a>`,
				"/other": "other",
			})
			b := first.another()
			b.open(base, "#in")
			b.run(`octavo('ask_view'); addEventListener('pagehide', () => octavo('search_open'));
				document.addEventListener('visibilitychange', () => octavo('rss_request'));
				addEventListener('visibilitychange', () => octavo('mcp_request'))`)
			leave(b, base)
			for _, kind := range []string{"ask_view", "page_leave", "search_open", "rss_request", "mcp_request"} {
				d.await(kind, 1)
			}
			if name == "link" {
				d.await("link_click", 1)
			}
			// After a reload, the page view of the reloaded page may have arrived too.
			views := d.of("page_view")
			if len(views) == 0 || len(views) > 2 || len(views) == 2 && name != "reload" {
				t.Errorf("views: %v", views)
			}
			d.simple()
		})
		t.Run(name+" while a batch waits", func(t *testing.T) {
			d := newDoor(t)
			base := site(t, map[string]string{"/": head + d.tag("o", "") + `<a id="away" href="http://away.test/">away</a>`, "/other": "other"})
			d.answers(func(w http.ResponseWriter, _ int) {
				w.Header().Set("Retry-After", "3600")
				w.WriteHeader(http.StatusServiceUnavailable)
			})
			b := first.another()
			b.open(base, "#in")
			d.awaitTries(1)
			waiting := d.tries()[0]
			b.awaitSent(1)
			d.answers(nil)
			leave(b, base)
			d.awaitTries(1)
			if again := d.tries()[0]; again.body != waiting.body {
				t.Errorf("%s", again.body)
			}
		})
	}
}

// TestTrackerOffline cuts the network while a reader opens more pages, and restores it.
func TestTrackerOffline(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	base := site(t, map[string]string{"/a": `<p id="in">x` + d.tag("o", "")})
	b := newReader(t)
	b.open(base+"/a", "#in")
	d.await("page_view", 1)
	b.offline(true)
	for _, path := range []string{"/b", "/c", "/d"} {
		b.run(`history.pushState({}, '', '` + path + `'); octavo('ask_view')`)
	}
	// Wait until the page has tried to send its events without a network.
	b.awaitSent(4)
	if got := d.of("page_view"); len(got) != 1 {
		t.Errorf("the network is cut, and there are %v", got)
	}
	b.offline(false)
	d.await("ask_view", 3)
	d.await("page_view", 4)
	for _, a := range d.tries()[1:] {
		if a.late <= 0 {
			t.Errorf("a batch that waited is not late: %s", a.body)
		}
	}
}
