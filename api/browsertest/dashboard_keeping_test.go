package browsertest

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/octavo-docs/octavo/schema"
)

// insights is the path of our site's insights.
func (d *dashboard) insights() string {
	return "/v1/orgs/" + d.h.Ours.Organization.ID + "/sites/" + d.h.Ours.Site.ID + "/insights"
}

// TestDashboardHealth compares the health of a site with the API's balance, live figures and queries. A reader without
// the right to see the balance must see everything else.
func TestDashboardHealth(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	d.figures.set(func(m *madeUp) { m.keys = map[string][]any{"eventDoor": {"key", "api"}, "eventKey": {"k.1", nil}} })
	d.signIn(d.overview())
	d.press("0")
	a := d.view("0", "health", "doors", 5)
	balance := d.h.Want(http.StatusOK, http.MethodGet, d.insights()+"/events/balance", d.token(), nil)
	for total, want := range map[string]any{
		"received": balance["received"], "accepted": balance["accepted"], "stored": balance["stored"],
		"inFlight": balance["inFlight"], "deadLettered": balance["deadLettered"], "refused": 3.0,
	} {
		if got := d.texts("[data-total=" + total + "] strong"); len(got) != 1 || got[0] != fmt.Sprint(want) {
			t.Errorf("%s: the page has %v, the API %v", total, got, want)
		}
	}
	if got := d.texts("[data-panel=refused] tbody code"); !slices.Equal(got, []string{"unknown_type", "overloaded"}) {
		t.Errorf("the reasons are %v", got)
	}
	if got := d.texts("[data-panel=refused] [data-cell=events]"); !slices.Equal(got, []string{"3", "–"}) {
		t.Errorf("events were refused: %v", got)
	}
	var days, events, requests []string
	for _, day := range slices.Backward(balance["refusedByDay"].([]any)) {
		day := day.(map[string]any)
		at, err := time.Parse(time.DateOnly, day["date"].(string))
		if err != nil {
			t.Fatal(err)
		}
		days = append(days, at.Format("Jan 2, 2006"))
		events = append(events, fmt.Sprint(day["events"]))
		requests = append(requests, strings.Replace(fmt.Sprint(day["requests"]), "0", "–", 1))
	}
	for cells, want := range map[string][]string{
		"th": days, "[data-cell=events]": events, "[data-cell=requests]": requests,
	} {
		if got := d.texts("[data-panel=refusedDays] tbody " + cells); !slices.Equal(got, want) || len(got) != 2 {
			t.Errorf("%s: the page has %v, the API %v", cells, got, want)
		}
	}
	most := eval[string](d, `document.querySelector('[data-panel=refusedDays] .spark').getAttribute('aria-label')`)
	if most != "Refused events by day: at most 2, on Nov 25, 2026" {
		t.Errorf("the sparkline says %q", most)
	}
	a.panels(map[string]string{"doors": "eventsCount", "eventKeys": "eventsCount", "types": "eventsCount"})
	a.rows("doors", "Publishable keys", "Tokens of the API")
	a.rows("eventKeys", "k.1", "API tokens")
	checks := func(d *dashboard) map[string]string {
		return eval[map[string]string](d, `Object.fromEntries([...document.querySelectorAll('[data-check]')]
			.map(e => [e.dataset.check, e.className + ' ' + e.lastElementChild.textContent.trim()]))`)
	}
	want := map[string]string{
		"lag": "fine Figures are 0s behind.", "people": "fine Events of people: the last 10m ago.",
		"agents": "fine Events of agents: the last 10m ago.",
		"flight": "told This node stores no events: other nodes do.",
		"lost":   "look The event log does not answer. Nobody knows whether it has lost messages.",
	}
	got := checks(d)
	for check, says := range want {
		if got[check] != says {
			t.Errorf("%s: the page says %q, want %q", check, got[check], says)
		}
	}
	for _, check := range []string{"refused", "unread", "dead"} {
		if !strings.HasPrefix(got[check], "look ") {
			t.Errorf("%s: the page says %q", check, got[check])
		}
	}

	live := d.h.Want(http.StatusOK, http.MethodGet, d.insights()+"/live", d.token(), nil)
	d.press("t")
	d.until(`document.querySelector('.graph-card table')`)
	for at, part := range []string{"people", "agents"} {
		var want []string
		for _, value := range live[part].(map[string]any)["columns"].([]any)[1].(map[string]any)["values"].([]any) {
			want = append(want, grouped(value))
		}
		cells := d.texts(fmt.Sprintf(".graph-card tbody td:nth-of-type(%d)", at+1))
		if !slices.Equal(cells, want) || len(cells) != 30 {
			t.Errorf("%s: the page has %v, the API %v", part, cells, want)
		}
	}
	d.figures.set(func(m *madeUp) { m.refuse = schema.TooManyRequests("too many requests", time.Second) })
	d.press("r")
	d.until(`document.querySelector('.notice')?.textContent.includes('Too many requests')`)
	d.figures.set(func(m *madeUp) { m.refuse, m.zero, m.rows, m.keys = nil, true, nil, nil })
	d.until(`document.querySelector('[data-check=people].look')?.textContent.includes('nothing in 30 days')`)
	d.accessible("dashboard-health-empty", 1280, 390)

	other := &dashboard{newTab(t, "lang", "en-US"), d.h, d.figures}
	link := d.h.Base + d.overview("view", "health") + "#in=" + d.h.BrowserLink(d.h.Ours.Tokens[schema.RoleRead])
	other.open(link, "[data-check=lag]")
	other.shown()
	if !strings.Contains(other.text(), "is shown to administrators") {
		t.Error("a reader who may not know the balance is not told")
	}
	if known := slices.Sorted(maps.Keys(checks(other))); !slices.Equal(known, []string{"agents", "lag", "people"}) {
		t.Errorf("a reader who may not know the balance sees %v", known)
	}
	d.quiet()
	other.quiet()
}

// TestDashboardLive compares the live figures with the API's answer. The page must show newer figures without an action
// of the reader.
func TestDashboardLive(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	d.signIn(d.overview())
	d.press("l")
	d.until(`document.querySelector('[data-panel=liveCountries] li')`)
	live := d.h.Want(http.StatusOK, http.MethodGet, d.insights()+"/live", d.token(), nil)
	values := func(part string, column int) []any {
		return live[part].(map[string]any)["columns"].([]any)[column].(map[string]any)["values"].([]any)
	}
	events := 0.0
	for _, n := range values("events", 1) {
		events += n.(float64)
	}
	for total, want := range map[string]any{
		"active": values("active", 0)[0], "activeAgents": values("activeAgents", 0)[0], "events": events,
	} {
		if got := d.texts("[data-total=" + total + "] strong"); len(got) != 1 || got[0] != grouped(want) {
			t.Errorf("%s: the page has %v, the API %v", total, got, want)
		}
	}
	names := []string{"Getting started /start", "Webhooks /guide/webhooks", "(empty)", "DE"}
	if got := d.texts("[data-panel=livePaths] .name"); !slices.Equal(got, names) {
		t.Errorf("the pages are %q, want %q", got, names)
	}
	if got := d.texts("[data-panel=liveCountries] .name"); got[3] != "Germany" {
		t.Errorf("the countries are %q", got)
	}
	for panel, part := range map[string]string{
		"livePaths": "paths", "liveSources": "sources", "liveCountries": "countries",
	} {
		var want []string
		for _, value := range values(part, 1) {
			want = append(want, grouped(value))
		}
		spans := `document.querySelectorAll('[data-panel=` + panel + `] .value span')`
		got := eval[[]string](d, `[...`+spans+`].map(e => e.title)`)
		if !slices.Equal(got, want) {
			t.Errorf("%s: the page has %v, the API %v", panel, got, want)
		}
	}
	d.accessible("dashboard-live", 1280, 390)
	d.figures.set(func(m *madeUp) { m.zero = true })
	d.until(`document.querySelector('[data-total=active] strong').textContent === '0'`)
	d.figures.set(func(m *madeUp) { m.rows = nil })
	d.until(`document.querySelector('[data-panel=livePaths] .none')?.textContent === 'No page was opened.'`)
	d.quiet()
}

// TestDashboardSettings creates and deletes an object of each kind with the keyboard, and changes the time zone. The
// API's answers must agree with the page.
func TestDashboardSettings(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	d.signIn(d.overview())
	d.press(",")
	d.until(`document.querySelector('[data-panel=annotations] form')`)
	d.accessible("dashboard-settings-empty", 1280, 768, 390)
	names := func(kind string) []string {
		t.Helper()
		var names []string
		list := d.h.Want(http.StatusOK, http.MethodGet, d.insights()+"/"+kind, d.token(), nil)
		for _, item := range list["items"].([]any) {
			item := item.(map[string]any)
			for _, member := range []string{"name", "text"} {
				if name, has := item[member].(string); has {
					names = append(names, name)
				}
			}
		}
		return names
	}
	hostileName := `<img src=x onerror="window.broken=1">`
	for kind, fields := range map[string][][2]string{
		"keys": {{"name", hostileName}, {"hosts", "docs.example.com"}}, "tokens": {{"name", hostileName}},
		"share-links": {{"name", hostileName}, {"password", "correct horse"}, {"expiresIn", "7"}},
		"annotations": {{"text", hostileName}},
	} {
		panel := `document.querySelector('[data-panel=` + kind + `]')`
		for _, field := range fields {
			d.run(panel + `.querySelector('[name=` + field[0] + `]').focus()`)
			d.press(field[1])
		}
		d.press(kb.Enter)
		d.until(panel + `.querySelector('tbody th')?.textContent === ` + fmt.Sprintf("%q", hostileName))
		if got := names(kind); !slices.Equal(got, []string{hostileName}) {
			t.Errorf("%s: the API has %q", kind, got)
		}
	}
	// The page shows the secrets of new objects. They must be valid.
	token := d.texts("[data-panel=tokens] .made code")[0]
	if a := d.h.Do(http.MethodGet, d.insights()+"/access", token, nil); a.Status != http.StatusOK {
		t.Errorf("the token is answered %d %s", a.Status, a.Body)
	}
	secret, isLink := strings.CutPrefix(d.texts("[data-panel=share-links] .made code")[0], d.h.Base+"/#share=")
	opened := d.h.DoBase(d.h.Base, http.MethodPost, "/insights/open", "", map[string]any{
		"secret": secret, "password": "correct horse",
	})
	if !isLink || opened.Status != http.StatusOK {
		t.Errorf("the share link is answered %d %s", opened.Status, opened.Body)
	}
	if snippet := d.texts("[data-panel=installation] code")[0]; !strings.Contains(snippet, `data-key="opk_`) {
		t.Errorf("the snippet is %s", snippet)
	}
	d.accessible("dashboard-settings", 1280, 768, 390)
	d.do(chromedp.EmulateViewport(1280, 900))

	d.run(`document.querySelector('[name=timezone]').focus()
		document.querySelector('[name=timezone]').value = 'Asia/Tokyo'
		document.querySelector('[data-panel=zone] [type=submit]').focus()`)
	d.press(kb.Enter)
	d.until(`document.querySelector('[data-panel=zone] [role=status]').textContent === 'Saved.'`)
	d.shown()
	if zone := eval[string](d, `document.querySelector('[name=timezone]').value`); zone != "Asia/Tokyo" {
		t.Errorf("the page has the zone %s", zone)
	}
	settings := d.h.Want(http.StatusOK, http.MethodGet, d.insights()+"/settings", d.token(), nil)
	if settings["timezone"] != "Asia/Tokyo" {
		t.Errorf("the settings are %v", settings)
	}
	d.run(`document.querySelector('[data-panel=installation] [name=url]').focus()`)
	d.press("https://docs.example.invalid/")
	// When new figures arrive, the text that the reader is typing must stay.
	d.run(`document.body.dispatchEvent(new KeyboardEvent('keydown', {key: 'r', bubbles: true}))`)
	d.shown()
	d.press(kb.Enter)
	d.until(`document.querySelector('[data-verdict=unreachable]')`)

	for _, kind := range []string{"keys", "tokens", "share-links", "annotations"} {
		panel := `document.querySelector('[data-panel=` + kind + `]')`
		d.run(panel + `.querySelector('tbody button').focus()`)
		d.press(kb.Enter)
		d.until(panel + `.querySelector('dialog[open] .main')`)
		if got := names(kind); len(got) != 1 {
			t.Errorf("%s: deleted before the reader has confirmed", kind)
		}
		d.run(panel + `.querySelector('dialog .main').focus()`)
		d.press(kb.Enter)
		d.until(`!` + panel + `.querySelector('tbody')`)
		if got := names(kind); len(got) > 0 {
			t.Errorf("%s: the API has %q", kind, got)
		}
	}
	if eval[bool](d, `'broken' in window`) {
		t.Error("the page has run a name")
	}
	d.quiet()
}
