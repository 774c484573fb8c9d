package browsertest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/octavo-docs/octavo/schema/insights"
)

// TestDashboardFeedback compares each figure of ratings and comments with the API's answers, and lists the comments.
// The list must first show the newest comments, and then all.
func TestDashboardFeedback(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	comments := []any{"The example is wrong.", "Thanks!\nIt works.", "Wo ist die deutsche Fassung?"}
	for n := range 20 {
		comments = append(comments, fmt.Sprint("Comment ", n))
	}
	d.figures.set(func(m *madeUp) {
		m.keys = map[string][]any{"eventPageFeedbackComment": comments, "visitorLanguage": {"en-US", "de-AT", nil}}
	})
	d.signIn(d.overview())
	a := d.view("7", "feedback", "badPages", 13)
	a.good("helpful", "ratings", "pageFeedbackRating", "good")
	a.totals(map[string][2]string{
		"ratings": {"ratings", "eventsCount"}, "bad": {"bad", "eventsCount"}, "written": {"written", "eventsCount"},
		"raters": {"ratings", "peopleCount"},
	})
	if got := d.texts("[data-total=ratedPages] strong"); got[0] != a.number("ratedPages") {
		t.Errorf("%v pages were rated, the API has %s", got, a.number("ratedPages"))
	}
	a.panels(map[string]string{
		"badPages": "eventsCount", "ratedPages": "eventsCount", "commentedPages": "eventsCount",
		"raterLanguages": "eventsCount",
	})
	for _, panel := range []string{"worstRated", "praised"} {
		var want []string
		for _, value := range a.column(panel, "pageFeedbackRating") {
			ratings := value.(map[string]any)
			good, ok, bad := ratings["good"].(float64), ratings["ok"].(float64), ratings["bad"].(float64)
			want = append(want, percent(good, good+ok+bad))
		}
		if got := d.texts("[data-panel=" + panel + "] .rated > span:nth-child(2)"); !slices.Equal(got, want) {
			t.Errorf("%s: the page has %v, the API %v", panel, got, want)
		}
	}
	if got := d.texts("[data-panel=inbox] .said"); len(got) != 20 || !slices.Equal(got[:3], []string{
		"The example is wrong.", "Thanks!\nIt works.", "Wo ist die deutsche Fassung?",
	}) {
		t.Errorf("the comments are %q", got)
	}
	d.run(`document.querySelector('[data-panel=inbox] .more button').focus()`)
	d.press(kb.Enter)
	d.until(`document.querySelectorAll('[data-panel=inbox] .said').length === 23`)
	d.shown()
	a = d.asks()
	a.graph("goodSeries", "badSeries")
	d.press("t")
	d.filters(map[string][2]string{"badPages": {"is,urlPath,/start", "Page is /start"}})
	d.run(`document.querySelector('[data-panel=inbox] tbody a').focus()`)
	d.press(kb.Enter)
	d.until(`new URLSearchParams(location.search).get('page') === '/start'`)
	d.press("7")
	d.shown()
	d.empty("dashboard-feedback", "Nobody rated a page or wrote a comment in the last 7 days.")
	d.quiet()
}

// TestDashboardLinks compares each figure about links with the API's answers.
func TestDashboardLinks(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	d.figures.set(func(m *madeUp) {
		m.keys = map[string][]any{
			"eventLinkTargetDomain": {"github.com", "status.example.com"},
			"eventLinkTargetValue":  {map[string]any{"kind": "url", "url": "https://github.com/example/sdk-go"}},
			"eventLinkPosition":     {"content", "sidebar"},
			"eventLinkTargetKind":   {"url", "page", "reusable-content"},
		}
	})
	d.signIn(d.overview())
	a := d.view("8", "links", "domains", 13)
	a.totals(map[string][2]string{
		"away": {"away", "eventsCount"}, "awayPeople": {"away", "peopleCount"}, "inside": {"inside", "eventsCount"},
		"downloads": {"downloads", "eventsCount"},
	})
	for total, want := range map[string]string{
		"awayShare": a.part("away", "clicks", "eventsCount"), "hosts": a.number("domains"),
	} {
		if got := d.texts("[data-total=" + total + "] strong"); got[0] != want {
			t.Errorf("%s: the page has %v, the API %s", total, got, want)
		}
	}
	metrics := map[string]string{}
	for _, list := range []string{"domains", "targets", "linkPages", "positions", "targetKinds", "downloadPages"} {
		metrics[list] = "eventsCount"
	}
	a.panels(metrics)
	a.rows("targets", "https://github.com/example/sdk-go")
	a.rows("targetKinds", "Another site", "Page", "Reusable content")
	a.graph("awaySeries", "insideSeries")
	d.press("t")
	d.filters(map[string][2]string{
		"domains":   {"is,eventLinkTargetDomain,github.com", "Link to is github.com"},
		"positions": {"is,eventLinkPosition,content", "Place of the link is Content"},
	})
	d.empty("dashboard-links", "Nobody followed a link in the last 7 days.")
	d.quiet()
}

// TestDashboardOpenAPI compares each figure about the operations of API references with the API's answers.
func TestDashboardOpenAPI(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	d.figures.set(func(m *madeUp) {
		m.keys = map[string][]any{
			"eventAPIOperationPath": {"/orgs/{id}", nil}, "eventAPIOperationMethod": {"get", "POST"},
			"visitorLanguage": {"en-US", nil}, "visitorGeoCountry": {"DE", nil},
		}
	})
	d.signIn(d.overview())
	a := d.view("-", "openapi", "operations", 11)
	a.totals(map[string][2]string{
		"looks": {"looks", "eventsCount"}, "lookers": {"looks", "peopleCount"},
		"tries": {"tries", "eventsCount"}, "triers": {"tries", "peopleCount"},
	})
	for total, list := range map[string]string{"operations": "operations", "triedOperations": "tried"} {
		if got := d.texts("[data-total=" + total + "] strong"); got[0] != a.number(list) {
			t.Errorf("%s: the page has %v, the API %s", total, got, a.number(list))
		}
	}
	a.panels(map[string]string{
		"operations": "eventsCount", "tried": "eventsCount", "methods": "eventsCount",
		"operationPages": "eventsCount", "operationLanguages": "eventsCount", "operationCountries": "eventsCount",
	})
	a.rows("operations", "/orgs/{id}", "(empty)")
	a.rows("operationCountries", "Germany", "Unknown")
	a.graph("looksSeries", "triesSeries")
	d.press("t")
	a.rows("methods", "GET", "POST")
	d.filters(map[string][2]string{"methods": {"is,eventAPIOperationMethod,get", "Method is GET"}})
	d.empty("dashboard-openapi", "Nobody opened an operation of an API reference in the last 7 days.")
	d.quiet()
}

// TestDashboardExplore uses the view that shows any metric by any column. It shows and copies the request, and filters
// with the view's form. Sorted by the difference, the view must also show the rows that only the compared range has.
func TestDashboardExplore(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	d.figures.set(func(m *madeUp) { m.keys, m.former = fewValues, []any{"monitor"} })
	d.signIn(d.overview())
	d.press("9")
	d.until(`document.querySelector('[data-panel=table] tbody tr')`)
	choose := func(at int, value, name string) {
		t.Helper()
		d.run(fmt.Sprintf(`const select = document.querySelectorAll('.pick div select')[%d]
			select.value = %q
			select.dispatchEvent(new Event('change', {bubbles: true}))`, at, value))
		d.until(fmt.Sprintf(`new URLSearchParams(location.search).get(%q) === %q`, name, value))
		d.shown()
	}
	choose(0, "sessionsCount", "of")
	choose(1, "agentClass", "by")
	choose(2, "day", "step")
	d.until(`document.querySelector('.graph-card .graph')`)
	d.accessible("dashboard-explore", 1280, 768, 390)
	d.do(chromedp.EmulateViewport(1280, 900))
	a := d.asks()
	var want []string
	for _, value := range a.column("table", "sessionsCount") {
		want = append(want, grouped(value))
	}
	if got := d.texts("[data-panel=table] [data-cell=of]"); !slices.Equal(got, want) {
		t.Errorf("the page has %v, the API %v", got, want)
	}
	if got := d.texts("[data-total=all]"); got[0] != grouped(a.column("all", "sessionsCount")[0]) {
		t.Errorf("all together: %v", got)
	}
	if got := d.texts("[data-panel=table] .address"); got[0] != "Asked by somebody" {
		t.Errorf("the rows are %q", got)
	}
	d.press("t")
	d.until(`document.querySelector('.graph-card table')`)
	want = nil
	for _, value := range a.column("over", "sessionsCount") {
		want = append(want, grouped(value))
	}
	if got := d.texts(".graph-card tbody td:nth-of-type(1)"); !slices.Equal(got, want) {
		t.Errorf("over time: the page has %v, the API %v", got, want)
	}
	if command := d.texts(".request code")[0]; !strings.Contains(command, string(a.queries["table"])) {
		t.Errorf("the request is %s, and the page shows %s", a.queries["table"], command)
	}

	// Each column must have a name and an explaining sentence. Its id appears only in the request.
	about := `Sessions: Number of different sessions. Kind of agent: What the visitor is, by user agent: a person;`
	if got := d.texts(".pick > p")[0]; !strings.HasPrefix(got, about) {
		t.Errorf("the columns are explained by %q", got)
	}
	for _, option := range d.texts(".pick option") {
		if _, known := insights.ByName(option); known {
			t.Errorf("the column %s has no name", option)
		}
	}

	differences := func() []float64 {
		t.Helper()
		a := d.asks()
		now := a.column("table", "sessionsCount")
		before := a.answer("table")["compare"].(map[string]any)["columns"].([]any)
		var all []float64
		for at, value := range before[1].(map[string]any)["values"].([]any) {
			all = append(all, now[at].(float64)-value.(float64))
		}
		gone := a.column("gone", "sessionsCount")
		return append(all, -gone[len(gone)-1].(float64))
	}
	for _, way := range []string{"descending", "ascending"} {
		d.run(`[...document.querySelectorAll('[data-panel=table] thead button')].at(-1).click()`)
		d.until(`document.querySelector('[data-panel=table] [aria-sort=` + way + `]')
			?.textContent.startsWith('Difference')`)
		d.shown()
		all := differences()
		slices.Sort(all)
		if way == "descending" {
			slices.Reverse(all)
		}
		want = nil
		for _, n := range all {
			text := grouped(max(n, -n))
			if n != 0 {
				text = map[bool]string{true: "+", false: "−"}[n > 0] + text
			}
			want = append(want, text)
		}
		if got := d.texts("[data-panel=table] [data-cell=difference]"); !slices.Equal(got, want) {
			t.Errorf("%s: the page has %v, the API %v", way, got, want)
		}
		if got := d.texts("[data-panel=table] .address"); !slices.Contains(got, "Monitors") {
			t.Errorf("%s: the rows %q lack one that has no more sessions", way, got)
		}
	}
	d.run(`document.querySelector('[data-panel=table] thead button').click()`)
	d.until(`document.querySelector('[data-panel=table] [aria-sort=descending]')?.textContent.startsWith('Sessions')`)
	d.shown()

	// With the keyboard, choose the filter's column by the first letters of its name.
	d.run(`document.querySelector('.pick [name=column]').focus()`)
	d.press("System")
	d.run(`document.querySelector('.pick [name=value]').focus()`)
	d.press("linux" + kb.Enter)
	d.until(`(new URLSearchParams(location.search).get('f') ?? '').endsWith(',linux')`)
	d.shown()
	d.run(`document.activeElement.blur()`) // in a focused field, x would be typed
	d.press("x")
	d.until(`!new URLSearchParams(location.search).has('f')`)
	d.run(`document.querySelector('[data-panel=table] .address').focus()`)
	d.press(kb.Enter)
	d.until(`new URLSearchParams(location.search).get('f') === 'is,agentClass,user-asked'`)
	d.do(chromedp.Reload())
	d.shown()
	d.until(`document.querySelector('.chip button')?.textContent === 'Kind of agent is Asked by somebody'`)
	choose(0, "pageFeedbackRating", "of")
	d.until(`document.body.textContent.includes('This metric has no graph')`)
	d.quiet()
}

// TestDashboardShowsAll opens all rows of a list in the view explore. These rows must meet the list's conditions.
func TestDashboardShowsAll(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	var many []any
	for at := range 130 {
		many = append(many, fmt.Sprint("/page-", at))
	}
	d.figures.set(func(m *madeUp) { m.rows = many })
	d.signIn(d.overview("f", "is,visitorDevice,mobile"))
	for panel, want := range map[string]string{
		"pages": `[["visitorBot",[""]],["eventType",["page_view"]],["visitorDevice",["mobile"]]]`,
		"searches": `[["visitorBot",[""]],["eventType",["search_type_query"]],["searchResults",[0]],` +
			`["visitorDevice",["mobile"]]]`,
	} {
		d.do(chromedp.Navigate(d.h.Base + d.overview("f", "is,visitorDevice,mobile")))
		d.shown()
		d.until(`document.querySelector('[data-panel=` + panel + `] .all')?.textContent === 'Show all 130'`)
		d.run(`document.querySelector('[data-panel=` + panel + `] .all').click()`)
		d.until(`document.querySelectorAll('[data-panel=table] tbody tr').length === 100`)
		d.run(`document.querySelector('[data-panel=table] .more button').click()`)
		d.until(`document.querySelectorAll('[data-panel=table] tbody tr').length === 130`)
		d.shown()
		var asked struct {
			Where []struct {
				Column string
				Values []any
			}
		}
		if err := json.Unmarshal(d.asks().queries["table"], &asked); err != nil {
			t.Fatal(err)
		}
		var where []any
		for _, c := range asked.Where {
			where = append(where, []any{c.Column, c.Values})
		}
		if got, err := json.Marshal(where); err != nil || string(got) != want {
			t.Errorf("%s: Explore asks where %s, want %s", panel, got, want)
		}
	}
	d.quiet()
}

// TestDashboardHostileRows shows hostile texts of visitors in the tables of the views. The page must show them as plain
// text.
func TestDashboardHostileRows(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	rows := append([]any{`/"><img src=x onerror="window.broken=1">`}, hostile...)
	d.figures.set(func(m *madeUp) { m.rows = rows })
	d.signIn(d.overview())
	for view, names := range map[string]string{
		"broken": "[data-panel=addresses] .address", "feedback": "[data-panel=inbox] .said",
		"links": "[data-panel=linkPages] .name", "explore": "[data-panel=table] .address",
	} {
		d.do(chromedp.Navigate(d.h.Base + d.overview("view", view)))
		d.shown()
		d.until(`document.querySelector('` + names + `')`)
		got := d.texts(names)
		for at, want := range rows[:9] {
			if got[at] != want {
				t.Errorf("%s: %q reads %q", view, want, got[at])
			}
		}
		if wide := eval[int64](d, "document.documentElement.scrollWidth"); wide > 1280 {
			t.Errorf("%s: %d pixels do not fit", view, wide)
		}
		if eval[bool](d, `'broken' in window`) {
			t.Errorf("%s has run a visitor's text", view)
		}
		d.picture("dashboard-hostile-" + view)
	}
	d.quiet()
}
