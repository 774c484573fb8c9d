package browsertest

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/octavo-docs/octavo/schema"
)

// redirects returns the sources of our site's redirects, with their destinations.
func (d *dashboard) redirects() map[string]any {
	d.t.Helper()
	sources := map[string]any{}
	path := "/v1/orgs/" + d.h.Ours.Organization.ID + "/sites/" + d.h.Ours.Site.ID + "/redirects"
	for _, item := range d.h.Want(http.StatusOK, http.MethodGet, path, d.token(), nil)["items"].([]any) {
		item := item.(map[string]any)
		sources[item["source"].(string)] = item["destination"]
	}
	return sources
}

func (d *dashboard) token() string { return d.h.Ours.Tokens[schema.RoleAdmin] }

// TestDashboardBroken compares the figures about broken addresses with the API's answers. If a page of the site now has
// the path of a broken address, the dashboard must offer no redirect, because the site shows the page. For another
// address, it must propose the page that had the path. The test creates a redirect with the keyboard, confirms it, and
// undoes it.
func TestDashboardBroken(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	page, slug, _ := d.h.MergedPage(d.h.Ours)
	d.h.Rename(d.h.Ours, page, slug+"-new")
	broken := []any{"/" + slug + "-new", "/" + slug, "/old/nothing-like-it.html", nil}
	d.figures.set(func(m *madeUp) {
		m.keys = map[string][]any{"urlPath": broken, "httpStatus": {404, 410, nil}, "agentOperator": {"OpenAI", nil}}
	})
	d.signIn(d.overview())
	d.press("6")
	const looking = `[...document.querySelectorAll('.goal')].some(e => e.textContent.includes('looking'))`
	d.until(`document.querySelector('.goal') && !` + looking)
	a := d.view("6", "broken", "statuses", 11)
	a.totals(map[string][2]string{
		"brokenPeople": {"people", "eventsCount"}, "brokenAgents": {"reads", "eventsCount"},
		"brokenVisitors": {"people", "peopleCount"},
	})
	for total, want := range map[string]string{
		"brokenShare": a.part("broken", "everyone", "eventsCount"), "brokenAddresses": a.number("addresses"),
		"brokenPrograms": a.number("brokenAgents"),
	} {
		if got := d.texts("[data-total=" + total + "] strong"); len(got) != 1 || got[0] != want {
			t.Errorf("%s: the page has %v, the API %s", total, got, want)
		}
	}
	a.panels(map[string]string{"brokenFrom": "eventsCount", "brokenAgents": "eventsCount", "statuses": "eventsCount"})
	a.rows("statuses", "404", "410", "Not sent")
	a.graph("peopleSeries", "agentSeries")
	d.press("t")

	// Each row has the number of people's requests. All other requests count as requests of agents.
	var people, agents []string
	of := map[any]float64{}
	for at, path := range a.column("byPeople", "urlPath") {
		of[path] = a.column("byPeople", "eventsCount")[at].(float64)
	}
	for at, path := range a.column("addresses", "urlPath") {
		all := a.column("addresses", "eventsCount")[at].(float64)
		people, agents = append(people, grouped(of[path])), append(agents, grouped(max(0, all-of[path])))
	}
	if got := d.texts("[data-cell=people]"); !slices.Equal(got, people) {
		t.Errorf("the page has %v requests of people, the API %v", got, people)
	}
	if got := d.texts("[data-cell=agents]"); !slices.Equal(got, agents) {
		t.Errorf("the page has %v requests of agents, the API %v", got, agents)
	}

	goals := d.texts("[data-cell=target]")
	if goals[0] != "Hello is at this path now." || !strings.Contains(goals[1], "Hello had this path") ||
		!strings.HasPrefix(goals[2], "nothing found") || goals[3] != "–" {
		t.Errorf("the page proposes %q", goals)
	}
	d.run(`document.querySelectorAll('.goal button')[0].focus()`)
	d.press(kb.Enter)
	d.until(`document.querySelector('dialog[open] .mend input:checked')`)
	d.accessible("dashboard-redirect", 1280, 390)
	if made := d.redirects(); len(made) > 0 {
		t.Errorf("there are redirects that nobody has confirmed: %v", made)
	}
	d.run(`document.querySelector('.mend [type=submit]').focus()`)
	d.press(kb.Enter)
	d.until(`document.querySelectorAll('[data-cell=target]')[1].textContent.startsWith('Redirects to Hello')`)
	made, _ := d.redirects()["/"+slug].(map[string]any)
	if made["kind"] != "site-page" || made["pageId"] != page || made["siteSpaceId"] != d.h.SiteSpace(d.h.Ours) {
		t.Errorf("the redirect leads to %v", made)
	}
	d.run(`document.querySelector('.goal button').focus()`)
	d.press(kb.Enter)
	d.until(`document.querySelectorAll('[data-cell=target]')[1].textContent.startsWith('Undone.')`)
	if made := d.redirects(); len(made) > 0 {
		t.Errorf("a redirect that was undone is there: %v", made)
	}

	// In a row of the list of broken addresses without a proposed page, type an address on another site.
	d.run(`document.querySelectorAll('.goal button')[1].focus()`)
	d.press(kb.Enter)
	d.until(`document.querySelector('dialog[open] .mend [name=url]')`)
	d.run(`document.querySelector('.mend [name=url]').focus()`)
	d.press("https://docs.example.com/new" + kb.Enter)
	d.until(`document.querySelectorAll('[data-cell=target]')[2].textContent.includes('https://docs.example.com/new')`)
	other, _ := d.redirects()["/old/nothing-like-it.html"].(map[string]any)
	if other["kind"] != "external" || other["url"] != "https://docs.example.com/new" {
		t.Errorf("the redirect leads to %v", other)
	}
	// After a reload, the row must show the destination of the redirect.
	d.do(chromedp.Reload())
	d.until(`document.querySelectorAll('[data-cell=target]')[2]?.textContent.includes('https://docs.example.com/new')`)
	d.empty("dashboard-broken", "No broken address is known in the last 7 days.")
	d.quiet()
}

// TestDashboardRedirectRights checks that a reader without the right to create redirects gets a message.
func TestDashboardRedirectRights(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	d.figures.set(func(m *madeUp) { m.keys = map[string][]any{"urlPath": {"/gone"}} })
	link := d.h.Base + d.overview("view", "broken") + "#in=" + d.h.BrowserLink(d.h.Ours.Tokens[schema.RoleRead])
	d.open(link, ".goal button")
	d.run(`document.querySelector('.goal button').click()`)
	d.until(`document.querySelector('dialog[open] .mend [name=url]')`)
	d.run(`document.querySelector('.mend [name=url]').focus()`)
	d.press("https://docs.example.com/new" + kb.Enter)
	d.until(`document.querySelector('.mend .wrong').textContent === 'You may not make redirects of this site.'`)
	d.quiet()
}

// TestDashboardMerged compares the figures of a page before and after its last merge with the API's answers to the
// dashboard's queries. For a page that no merge has changed, the dashboard must say so.
func TestDashboardMerged(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	page, _, _ := d.h.MergedPage(d.h.Ours)
	d.signIn(d.overview("view", "pages", "page", d.h.Ours.Space.ID+"/"+page))
	d.until(`document.querySelector('[data-panel=merged] tbody')`)
	d.accessible("dashboard-merged", 1280, 390)
	d.asks()
	d.press("3")
	d.until(`document.querySelector('[data-total=typed]')`)
	d.run(`window.bodies = []; history.back()`)
	d.until(`document.querySelector('[data-panel=merged] tbody') && window.bodies.some(b => b.includes('afterviews'))`)
	d.until(`document.querySelector('[data-panel=merged] [data-cell=after]')?.textContent !== '–'`)
	body := eval[string](d, `window.bodies.find(b => b.includes('afterviews'))`)
	var batch struct {
		Queries map[string]json.RawMessage `json:"queries"`
	}
	if err := json.Unmarshal([]byte(body), &batch); err != nil {
		t.Fatal(err)
	}
	path := "/v1/orgs/" + d.h.Ours.Organization.ID + "/sites/" + d.h.Ours.Site.ID + "/insights/batch"
	a := asked{dashboard: d}
	a.answers = d.h.Want(http.StatusOK, http.MethodPost, path, d.token(), batch)["queries"].(map[string]any)
	for _, side := range []string{"before", "after"} {
		cells := d.texts("[data-panel=merged] [data-cell=" + side + "]")
		want := []string{
			grouped(a.column(side+"people", "peopleCount")[0]), grouped(a.column(side+"views", "eventsCount")[0]),
			grouped(a.column(side+"reads", "eventsCount")[0]),
		}
		if len(cells) != 6 || !slices.Equal(cells[:3], want) {
			t.Errorf("%s: the page has %v, the API %v", side, cells, want)
		}
	}
	d.do(chromedp.Navigate(d.h.Base + d.overview("view", "pages", "page", "s1/p0")))
	d.until(`document.querySelector('main').textContent.includes('No merge has changed this page.')`)
	// A page outside of spaces has no merges, so the panel must be absent.
	d.do(chromedp.Navigate(d.h.Base + d.overview("view", "pages", "page", "/start")))
	d.shown()
	d.until(`document.querySelector('[data-panel=addresses] .name')`)
	if eval[bool](d, `Boolean(document.querySelector('[data-panel=merged]'))`) {
		t.Error("a path has a merge")
	}
	d.quiet()
}
