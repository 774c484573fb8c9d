package browsertest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/octavo-docs/octavo/schema"
)

// asked has the queries that the page sent last, with the API's answers to them.
type asked struct {
	*dashboard
	queries map[string]json.RawMessage
	answers map[string]any
}

// asks refreshes the page's figures and records the queries that the page sends. Then it sends the same queries to the
// API.
func (d *dashboard) asks() asked {
	d.t.Helper()
	d.run(`if (!window.send) {
			window.send = window.fetch
			window.fetch = (...a) => { if (a[1].body) window.bodies.push(a[1].body); return window.send(...a) }
		}
		window.bodies = []`)
	d.press("r")
	d.until(`window.bodies.length > 0`)
	d.shown()
	a := asked{dashboard: d, queries: map[string]json.RawMessage{}}
	for _, body := range eval[[]string](d, `window.bodies`) {
		var batch struct{ Queries map[string]json.RawMessage }
		if err := json.Unmarshal([]byte(body), &batch); err != nil {
			d.t.Fatal(err)
		}
		for name, query := range batch.Queries {
			a.queries[name] = query
		}
	}
	path := "/v1/orgs/" + d.h.Ours.Organization.ID + "/sites/" + d.h.Ours.Site.ID + "/insights/batch"
	body := map[string]any{"queries": a.queries}
	answer := d.h.Want(http.StatusOK, http.MethodPost, path, d.h.Ours.Tokens[schema.RoleAdmin], body)
	a.answers = answer["queries"].(map[string]any)
	return a
}

// TestDashboardZone opens views with and without a time zone in the address. If the address names none, the queries
// name none either, and the page shows times in the zone that the answer names.
func TestDashboardZone(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	d.figures.set(func(m *madeUp) { m.zone = "Asia/Kathmandu" }) // the answers' time 12:00 in UTC is 17:45 there
	site := "/?" + url.Values{"org": {d.h.Ours.Organization.ID}, "site": {d.h.Ours.Site.ID}}.Encode()
	d.signIn(site)
	for _, c := range []struct{ address, zone, clock string }{
		{"", "Asia/Kathmandu", "5:45"},
		{"&zone=Asia%2FTokyo", "Asia/Tokyo", "9:00"},
		{"&zone=Mars%2FBase", "Asia/Kathmandu", "5:45"},
		{"&view=pages", "Asia/Kathmandu", "5:45"},
		{"&view=explore", "Asia/Kathmandu", "5:45"},
	} {
		d.open(d.h.Base+site+c.address, "main[aria-busy=false] .status")
		status := d.texts(".status")[0]
		if !strings.Contains(status, "Times in "+c.zone) || !strings.Contains(status, c.clock) {
			t.Errorf("%s: the page shows %s", c.address, status)
		}
		named := c.zone != "Asia/Kathmandu"
		for name, text := range d.asks().queries {
			if strings.Contains(string(text), `"timezone"`) != named {
				t.Errorf("%s: the query %s is %s", c.address, name, text)
			}
		}
		d.press("m")
		if address := d.location(); strings.Contains(address, "zone=") != named {
			t.Errorf("%s leads to %s", c.address, address)
		}
	}
	d.open(d.h.Base+site+"&view=live", "main[aria-busy=false]")
	d.until(`document.querySelector('.page-head').textContent.includes('5:45')`)
}

// answer returns the API's answer to a query of the page.
func (a asked) answer(name string) map[string]any {
	a.t.Helper()
	answer, found := a.answers[name].(map[string]any)
	if !found {
		a.t.Fatalf("the page does not ask %s", name)
	}
	return answer["answer"].(map[string]any)
}

// column returns the values of a column of the API's answer.
func (a asked) column(name, column string) []any {
	a.t.Helper()
	for _, c := range a.answer(name)["columns"].([]any) {
		if c := c.(map[string]any); c["column"] == column {
			return c["values"].([]any)
		}
	}
	a.t.Fatalf("%s has no %s", name, column)
	return nil
}

// totals compares the page's totals with the API's values. For each total, it takes the name of a query and a column.
func (a asked) totals(of map[string][2]string) {
	a.t.Helper()
	for total, of := range of {
		want := grouped(a.column(of[0], of[1])[0])
		if got := a.texts("[data-total=" + total + "] strong"); len(got) != 1 || got[0] != want {
			a.t.Errorf("%s: the page has %v, the API %s", total, got, want)
		}
	}
}

// good compares a total of the page with the share of good ratings in the API's answer.
func (a asked) good(total, name, column, good string) {
	a.t.Helper()
	all, part := 0.0, 0.0
	for kind, count := range a.column(name, column)[0].(map[string]any) {
		if all += count.(float64); kind == good {
			part = count.(float64)
		}
	}
	want := percent(part, all)
	if got := a.texts("[data-total=" + total + "] strong"); len(got) != 1 || got[0] != want {
		a.t.Errorf("%s: the page has %v, the API %s", total, got, want)
	}
}

// percent formats a share like a browser, which rounds halves up. It does not use the verb %.0f, which rounds halves to
// even numbers.
func percent(part, all float64) string {
	return grouped(float64(int64(200*part+all)/int64(2*all))) + "%"
}

// panels compares the values of panels with the API's values of a metric. The map has the metric of each panel.
func (a asked) panels(of map[string]string) {
	a.t.Helper()
	for panel, metric := range of {
		var want []string
		for _, value := range a.column(panel, metric) {
			want = append(want, grouped(value))
		}
		values := `document.querySelectorAll('[data-panel=` + panel + `] .value span')`
		titles := eval[[]string](a.dashboard, `[...`+values+`].map(e => e.title)`)
		if !slices.Equal(titles, want) {
			a.t.Errorf("%s: the page has %v, the API %v", panel, titles, want)
		}
	}
}

// graph compares the table of the graph with the API's values of the named queries.
func (a asked) graph(of ...string) {
	a.t.Helper()
	a.press("t")
	a.until(`document.querySelector('.graph-card table')`)
	for at, series := range of {
		var want []string
		for _, value := range a.column(series, "eventsCount") {
			want = append(want, grouped(value))
		}
		if got := a.texts(fmt.Sprintf(".graph-card tbody td:nth-of-type(%d)", 2*at+1)); !slices.Equal(got, want) {
			a.t.Errorf("%s: the page has %v, the API %v", series, got, want)
		}
	}
}

// grouped formats a number as the page does in American English.
func grouped(value any) string {
	text := fmt.Sprintf("%.0f", value)
	for at := len(text) - 3; at > 0; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
}

// TestDashboardFigures compares each figure of the overview with the API's answer to the page's own queries. The graph
// must mark each annotation, and show its text at the annotation's point.
func TestDashboardFigures(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	annotations := "/v1/orgs/" + d.h.Ours.Organization.ID + "/sites/" + d.h.Ours.Site.ID + "/insights/annotations"
	d.h.Want(http.StatusCreated, http.MethodPost, annotations, d.h.Ours.Tokens[schema.RoleAdmin],
		map[string]any{"text": "Newsletter", "at": "2026-11-24T10:00:00Z"})
	d.signIn(d.overview())
	d.until(`document.querySelector('.annotations li')?.textContent.includes('Tue, Nov 24 Note: Newsletter')`)
	d.run(`document.querySelector('.graph').focus()`)
	for range 3 {
		d.press(kb.ArrowRight)
	}
	d.until(`/Nov 24.*Note: Newsletter/.test(document.querySelector('.graph [aria-live]').textContent)`)
	a := d.asks()
	a.totals(map[string][2]string{
		"people": {"people", "peopleCount"}, "views": {"views", "eventsCount"}, "reads": {"reads", "eventsCount"},
		"sessions": {"people", "sessionsCount"},
	})
	a.good("helpful", "people", "pageFeedbackRating", "good")
	a.panels(map[string]string{
		"pages": "eventsCount", "sources": "peopleCount", "countries": "peopleCount", "searches": "eventsCount",
		"agents": "eventsCount",
	})
	a.graph("peopleSeries", "agentSeries")
	d.quiet()
}

// TestDashboardPage compares each figure on the dashboard's view of a page with the API's answers. The test opens a
// page of a space, and a page outside of spaces, which has only a path. The query for the searches that led to the page
// must use the addresses of the page.
func TestDashboardPage(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	d.signIn(d.overview("view", "pages", "page", "s1/p0"))
	for page, about := range map[string]string{"s1/p0": `{"space":"s1","page":"p0"}`, "/start": `"/start","/start/"`} {
		d.do(chromedp.Navigate(d.h.Base + d.overview("view", "pages", "page", page)))
		d.shown()
		a := d.asks()
		if len(a.queries) != 15 {
			t.Errorf("%s: the page has %d queries", page, len(a.queries))
		}
		for name, query := range a.queries {
			byAddress := name == "ledHere"
			if name == "steps" && page == "/start" {
				byAddress = strings.Contains(string(query), `"page":{"path":"/start"}`)
			}
			if !byAddress && !strings.Contains(string(query), about) {
				t.Errorf("%s is not about the page %s: %s", name, page, query)
			}
		}
		a.totals(map[string][2]string{
			"people": {"people", "peopleCount"}, "views": {"views", "eventsCount"}, "reads": {"reads", "eventsCount"},
		})
		a.good("helpful", "people", "pageFeedbackRating", "good")
		a.panels(map[string]string{
			"sources": "peopleCount", "pageSearches": "eventsCount",
			"ledHere": "eventsCount", "links": "eventsCount", "comments": "eventsCount", "agents": "eventsCount",
			"countries": "peopleCount", "addresses": "eventsCount",
		})
		a.beforeAndAfter()
		led := string(a.queries["ledHere"])
		bySpace := strings.Contains(led, `"eventSearchResultPage","values":[{"space":"s1","page":"p0"}]`)
		if !strings.Contains(led, `"search_open_result"`) || bySpace != (page == "s1/p0") {
			t.Errorf("%s: the searches that led there are %s", page, led)
		}
		if got := d.texts("[data-panel=ledHere] .about"); !slices.Equal(got, []string{
			"Texts of searches from whose results a reader opened this page, and how often.",
		}) {
			t.Errorf("the panel says %q", got)
		}
		a.graph("peopleSeries", "agentSeries")
	}
	d.quiet()
}

// beforeAndAfter compares the lists of pages before and after a page with the API's answer. It compares names, links,
// views and shares, and the number of views that had no page before or after them.
func (a asked) beforeAndAfter() {
	a.t.Helper()
	answer := a.answer("steps")
	views := answer["views"].(float64)
	said := fmt.Sprintf("People viewed this page %s times: %s began a session, %s ended one, %s were reloads.",
		grouped(views), grouped(answer["entries"]), grouped(answer["exits"]), grouped(answer["reloads"]))
	if got := a.texts("[data-panel=steps] > .about"); !slices.Equal(got, []string{said}) {
		a.t.Errorf("the page says %q, want %q", got, said)
	}
	for side, ends := range map[string]string{"from": "entries", "to": "exits"} {
		left := views - answer[ends].(float64) - answer["reloads"].(float64)
		var names, links, numbers, shares []string
		for _, row := range answer[side].([]any) {
			row := row.(map[string]any)
			name, key := fmt.Sprint(row["path"]), fmt.Sprint(row["path"])
			if row["title"] != nil {
				name, key = fmt.Sprint(row["title"], row["path"]), fmt.Sprint(row["space"], "/", row["page"])
			}
			names, links = append(names, name), append(links, key)
			numbers = append(numbers, grouped(row["views"]))
			shares = append(shares, percent(row["views"].(float64), views))
			left -= row["views"].(float64)
		}
		part := "[data-panel=steps] [data-side=" + side + "] "
		for selector, want := range map[string][]string{
			"tbody th": names, "[data-cell=views]": numbers, "[data-cell=share]": shares,
			"p.about": {"Further pages: " + grouped(left) + " views."},
			"h3":      {map[string]string{"from": "Came from", "to": "Went to"}[side]},
		} {
			if got := a.texts(part + selector); !slices.Equal(got, want) || len(got) == 0 {
				a.t.Errorf("%s has %q, want %q", part+selector, got, want)
			}
		}
		got := eval[[]string](a.dashboard, `[...document.querySelectorAll('`+part+`a')].map((a) =>
			new URL(a.href).searchParams.get('page'))`)
		if !slices.Equal(got, links) {
			a.t.Errorf("%s opens %q, want %q", side, got, links)
		}
	}
}

// TestDashboardSearch compares each figure of searches and questions with the API's answers.
func TestDashboardSearch(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	d.signIn(d.overview("view", "search"))
	a := d.asks()
	a.totals(map[string][2]string{
		"typed": {"typed", "eventsCount"}, "missed": {"missed", "eventsCount"}, "results": {"results", "eventsCount"},
		"searchers": {"typed", "peopleCount"}, "asked": {"asked", "eventsCount"},
	})
	a.good("answers", "answers", "askResponseRating", "positive")
	a.panels(map[string]string{
		"searched": "eventsCount", "searches": "eventsCount", "opened": "eventsCount", "questions": "eventsCount",
		"searchPages": "eventsCount",
	})
	a.graph("typedSeries", "missedSeries")
	d.quiet()
}

// TestDashboardPages compares each tab of the list of pages with the API's answer. With only the keyboard, a reader
// must be able to open a row's page and return to the list, and to see which pages have lost readers. The tab of agents
// must leave out pages that people also read.
func TestDashboardPages(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	d.signIn(d.overview())
	d.press("2")
	d.until(`new URLSearchParams(location.search).get('view') === 'pages'`)
	d.shown()
	for tab, metric := range map[string]string{
		"read": "eventsCount", "never": "words", "stale": "eventsCount", "agents": "eventsCount",
		"rated": "pageFeedbackRating",
	} {
		d.do(chromedp.Navigate(d.h.Base + d.overview("view", "pages", "tab", tab)))
		d.shown()
		a := d.asks()
		var want []string
		items := a.answer("list")["items"].([]any)
		if tab == "agents" {
			if items = items[:2]; a.queries["people"] == nil {
				t.Error("the page does not ask what people read")
			}
		}
		for _, item := range items {
			item := item.(map[string]any)
			switch value := item["metrics"].(map[string]any)[metric].(type) {
			case float64:
				want = append(want, grouped(value))
			case map[string]any:
				all := value["good"].(float64) + value["ok"].(float64) + value["bad"].(float64)
				want = append(want, percent(value["good"].(float64), all))
			default:
				words := "–"
				if item[metric] != nil {
					words = grouped(item[metric])
				}
				want = append(want, words)
			}
		}
		at := 1
		if tab == "never" {
			at = 2
		}
		cells := fmt.Sprintf("[data-panel=list] tbody td:nth-of-type(%d)", at)
		if tab == "rated" {
			cells += " .rated > span:nth-child(2)"
		}
		if got := d.texts(cells); !slices.Equal(got, want) || len(got) == 0 {
			t.Errorf("%s: the page has %v, the API %v", tab, got, want)
		}
	}
	d.figures.set(func(m *madeUp) { m.allRead = true })
	d.do(chromedp.Navigate(d.h.Base + d.overview("view", "pages", "tab", "never")))
	d.shown()
	d.until(`document.querySelector('[data-panel=list] .none').textContent === 'All ` +
		fmt.Sprint(len(d.figures.rows)) + ` pages of the site’s spaces were opened.'`)
	d.do(chromedp.Navigate(d.h.Base + d.overview("view", "pages")))
	d.shown()
	d.run(`document.querySelector('[data-panel=list] .about a').focus()`)
	d.press(kb.Enter)
	d.until(`document.querySelector('[data-panel=table] [aria-sort=ascending]')?.textContent.startsWith('Difference')`)
	d.run(`history.back()`)
	d.until(`document.querySelector('[data-panel=list] tbody')`)
	d.run(`document.querySelector('[data-panel=list] thead button').focus()`)
	d.press(kb.Enter)
	d.until(`new URLSearchParams(location.search).get('sort') === 'title'`)
	d.shown()
	d.until(`document.querySelector('[aria-sort=ascending]')?.textContent.startsWith('Page')`)
	d.run(`document.querySelector('[data-panel=list] tbody a').focus()`)
	d.press(kb.Enter)
	d.until(`new URLSearchParams(location.search).get('page') === 's1/p0'`)
	d.shown()
	d.until(`document.querySelector('.page-head h2')?.textContent === '/start'`)
	d.press("3")
	d.until(`new URLSearchParams(location.search).get('view') === 'search'`)
	d.until(`!new URLSearchParams(location.search).has('page')`)
	d.shown()
	d.quiet()
}
