package browsertest

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// share creates a share link with the API. It returns the link's id and its address in the dashboard.
func (d *dashboard) share(link map[string]any) (id, address string) {
	d.t.Helper()
	made := d.h.Want(http.StatusCreated, http.MethodPost, d.insights()+"/share-links", d.token(), link)
	return made["id"].(string), d.h.Base + "/#share=" + made["secret"].(string)
}

// TestDashboardShare opens a share link with a password. A reader of the link has no session. The reader must see the
// figures in the link's range, and no other figures. As soon as the link is deleted, the page must show no figures.
func TestDashboardShare(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	id, address := d.share(map[string]any{
		"name": "For the board", "password": "correct horse", "ranges": []string{"last30Days"},
	})
	const field = `document.querySelector('#password')`
	says := func(text string) {
		t.Helper()
		d.until(`document.querySelector('form[aria-busy=false] #wrong').textContent.startsWith('` + text + `')`)
	}
	d.open(address, "#password")
	d.accessible("dashboard-share", 1280, 390)
	d.run(field + `.focus()`)
	d.press("wrong horse" + kb.Enter)
	says("The password is wrong.")
	d.run(field + `.select()`)
	d.press("correct horse" + kb.Enter)
	d.shown()
	d.until(`document.querySelector('[data-total=people]')`)
	if at := d.location(); !strings.Contains(at, "range=last30Days") || !strings.Contains(at, "#share=") {
		t.Errorf("the reader is at %s", at)
	}
	title := d.h.Ours.Site.Title
	if got := d.texts(".top nav")[0]; got != "Shared view: 30 d/"+title {
		t.Errorf("the header is %q", got)
	}
	if got := d.texts(".ranges"); !slices.Equal(got, []string{"This link shows 30 d and nothing before or after."}) {
		t.Errorf("the toolbar says %q", got)
	}
	views := []string{"Overview", "Live", "Search & ask", "Agents", "Audience", "Feedback",
		"Links", "OpenAPI", "Journeys", "Explore"}
	if got := d.texts(".site-nav a"); !slices.Equal(got, views) {
		t.Errorf("the link shows the views %q", got)
	}
	a := d.asks()
	a.totals(map[string][2]string{"people": {"people", "peopleCount"}})
	d.accessible("dashboard-shared", 1280, 390)
	for _, step := range []struct{ key, shows string }{
		{"4", "main[data-view=agents]"}, {"2", "main[data-view=agents]"}, {",", "main[data-view=agents]"},
		{"s", "main[data-view=agents]"}, {"9", "main[data-view=explore]"}, {"7", "main[data-view=feedback]"},
	} {
		d.press(step.key)
		d.until(`document.querySelector('` + step.shows + `')`)
		d.shown()
	}
	if n := eval[int](d, `document.querySelectorAll('.open, .top a:not(.skip)').length`); n > 0 {
		t.Errorf("%d links lead to what the link does not show", n)
	}
	// If the address has a view that the link does not show, the page must show the overview.
	_, secret, _ := strings.Cut(address, "#")
	d.do(chromedp.Navigate(d.h.Base + d.overview("view", "settings") + "#" + secret))
	d.until(field)
	d.run(field + `.focus()`)
	d.press("correct horse" + kb.Enter)
	d.until(`document.querySelector('main [data-total=people]')`)
	d.shown()
	asked := eval[[]string](d, `[...new Set(performance.getEntriesByType('resource').map(e => new URL(e.name).pathname)
		.filter(path => !path.startsWith('/o/')))].sort()`)
	want := []string{"/insights/open", d.insights() + "/access", d.insights() + "/batch"}
	if !slices.Equal(asked, want) {
		t.Errorf("the page asks %v, want %v", asked, want)
	}
	if kept := eval[string](d, `document.cookie + JSON.stringify({...localStorage, ...sessionStorage})`); kept != "{}" {
		t.Errorf("scripts can read %s", kept)
	}
	if held := d.cookies(); len(held) > 0 {
		t.Errorf("the browser keeps %v", held)
	}

	d.h.Want(http.StatusNoContent, http.MethodDelete, d.insights()+"/share-links/"+id, d.token(), nil)
	d.press("r")
	says("This link has ended")
	d.accessible("dashboard-share-ended", 390)
	d.quiet()
}

// TestDashboardShareChanges opens a link that has no password. Then the link gets a password. The page must ask for the
// password, and then show the same view.
func TestDashboardShareChanges(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	id, address := d.share(map[string]any{"name": "For everybody"})
	d.open(address, "main [data-total=people]")
	d.shown()
	d.press("5")
	d.until(`document.querySelector('main[data-view=audience]')`)
	d.shown()
	d.do(chromedp.Reload())
	d.until(`document.querySelector('main[data-view=audience] [data-total=people]')`)
	d.shown()
	d.h.Want(http.StatusOK, http.MethodPatch, d.insights()+"/share-links/"+id, d.token(), map[string]any{
		"password": "another horse",
	})
	d.press("r")
	d.until(`document.querySelector('#password')`)
	d.press("another horse" + kb.Enter)
	d.until(`document.querySelector('main[data-view=audience] [data-total=people]')`)

	d.open(d.h.Base+"/#share=no-such-secret-at-all", "#wrong:not(:empty)")
	d.do(chromedp.Reload())
	d.until(`document.querySelector('#wrong').textContent.startsWith('This link has ended')`)
	d.quiet()
}

// TestDashboardTitles shows the titles of pages with their paths, in every view and for readers of a share link.
func TestDashboardTitles(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	markup := `<img src=x onerror="window.broken=1">`
	d.figures.set(func(m *madeUp) {
		m.rows = []any{"/start", "/guide/webhooks", "/guide", "/reference/a/very/long/path/to/a/page/of/an/operation"}
		m.keys = map[string][]any{
			"pageTitle": {
				"Get started", markup, "/guide", "A title that is longer than the width of a list",
			},
			"eventPageFeedbackComment": {"Thanks!", "Too long."},
		}
	})
	d.signIn(d.overview())
	both := func(panel string) {
		t.Helper()
		a := d.asks()
		titles := map[any]any{}
		for at, path := range a.column("titles", "urlPath") {
			titles[path] = a.column("titles", "pageTitle")[at]
		}
		var want []string
		for _, path := range a.column(panel, "urlPath") {
			says := path.(string)
			if title := titles[path].(string); title != says {
				says = title + " " + says
			}
			want = append(want, says)
		}
		got := d.texts("[data-panel=" + panel + "] :is(.name, .address)")
		if !slices.Equal(got, want) || len(got) != 4 {
			t.Errorf("%s: the page has %q, the API %q", panel, got, want)
		}
	}
	d.until(`document.querySelector('[data-panel=pages] .name .quiet')`)
	both("pages")
	d.press("9") // key 9 opens the view explore, with paths
	d.until(`document.querySelector('[data-panel=table] .address .quiet')`)
	both("table")
	d.press("7")
	d.until(`document.querySelector('[data-panel=inbox] .path')`)
	d.shown()
	both("ratedPages")
	if got := d.texts("[data-panel=inbox] td[data-cell=page]"); !slices.Equal(got, []string{
		"Get started/start", markup + "/guide/webhooks",
	}) {
		t.Errorf("the comments are about %q", got)
	}
	_, address := d.share(map[string]any{"name": "For everybody"})
	shared := &dashboard{newTab(t, "lang", "en-US"), d.h, d.figures}
	d = shared
	d.open(address, "main [data-total=people]")
	d.shown()
	d.until(`document.querySelector('[data-panel=pages] .name .quiet')`)
	both("pages")
	d.accessible("dashboard-titles", 1280, 390)
	d.do(chromedp.EmulateViewport(1280, 900))
	d.filters(map[string][2]string{"pages": {"is,urlPath,/start", "Page is /start"}})
	for key, panel := range map[string]string{
		"3": "searchPages", "5": "landing", "8": "linkPages", "-": "operationPages",
	} {
		d.press(key)
		d.until(`document.querySelector('[data-panel=` + panel + `] .name')`)
		d.shown()
		both(panel)
	}
	if eval[bool](d, `'broken' in window`) {
		t.Error("the page has run a title")
	}
	d.quiet()
}
