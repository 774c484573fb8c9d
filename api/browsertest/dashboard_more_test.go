package browsertest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// fewValues has values for columns that have only a few possible values (madeUp.keys).
var fewValues = map[string][]any{
	"agentOperator": {"OpenAI", "Anthropic", "Google", nil, "Perplexity"},
	"visitorBot":    {"chatgpt", "claude-code", "googlebot", "unknown", "gptbot"},
	"agentClass":    {"user-asked", "training", "search", "coding", "tool", nil},
	"contentForm":   {"html", "markdown", "llms", "mcp", nil},
	"agentVerified": {"verified", "claimed", "impostor"},
	"sourceName":    {"ChatGPT", "Google", "", "Hacker News"},
	"channel":       {"search", "direct", "ai", "referral", "social"},
	"referrerDomain": {
		"news.ycombinator.com", "github.com", "a-very-long-name-of-a-site-that-has-a-link-to-us.example.com",
	},
	"utmCampaign": {"spring", "newsletter-2026-11"}, "utmMedium": {"email", "social"},
	"visitorGeoCountry": {"DE", "US", "IN", nil}, "visitorLanguage": {"de-AT", "en-US", "pt-BR", "not a language", nil},
	"visitorDevice": {"desktop", "mobile", "tablet"}, "visitorBrowser": {"chrome", "firefox", "unknown"},
	"visitorOS": {"windows", "macos", "linux"}, "displayContext": {"site", "embed"},
}

// number returns the number of all rows of a list in the API's answer. It formats the number like the page.
func (a asked) number(name string) string { return grouped(a.answer(name)["rowsTotal"]) }

// part returns the value of the query `of` as a percentage of the value of the query `whole`. It formats the percentage
// like the page.
func (a asked) part(of, whole, column string) string {
	part, all := a.column(of, column)[0].(float64), a.column(whole, column)[0].(float64)
	return percent(part, all)
}

// rows compares the names of a list's rows with the wanted names.
func (a asked) rows(panel string, want ...string) {
	a.t.Helper()
	if got := a.texts("[data-panel=" + panel + "] .name"); !slices.Equal(got, want) {
		a.t.Errorf("%s: the page has %q, want %q", panel, got, want)
	}
}

// filters presses Enter on the first row of each panel. The row must become a filter with the row's text.
func (d *dashboard) filters(of map[string][2]string) {
	d.t.Helper()
	for panel, want := range of {
		d.run(`document.querySelector('[data-panel=` + panel + `] .name').focus()`)
		d.press(kb.Enter)
		d.until(fmt.Sprintf(`new URLSearchParams(location.search).get('f') === %q`, want[0]))
		d.shown()
		if chip := d.texts(".chip button")[0]; chip != want[1] {
			d.t.Errorf("%s: the filter reads %q, want %q", panel, chip, want[1])
		}
		d.press("x")
		d.until(`!new URLSearchParams(location.search).has('f')`)
		d.shown()
	}
}

// empty refreshes the view without events, and checks its message.
func (d *dashboard) empty(name, says string) {
	d.t.Helper()
	d.figures.set(func(m *madeUp) { m.zero, m.rows = true, nil })
	d.press("r")
	d.until(fmt.Sprintf(`document.querySelector('.nothing h2')?.textContent.startsWith(%q)`, says))
	d.accessible(name+"-empty", 1280, 768, 390)
}

// view opens a view with its key and checks its accessibility. It returns the view's queries and their answers. The
// number of queries must be `queries`.
func (d *dashboard) view(key, name, panel string, queries int) asked {
	d.t.Helper()
	d.press(key)
	d.until(fmt.Sprintf(`new URLSearchParams(location.search).get('view') === %q`, name))
	d.until(`document.querySelector('[data-panel=` + panel + `] .name')`)
	d.shown()
	d.accessible("dashboard-"+name, 1280, 768, 390)
	d.do(chromedp.EmulateViewport(1280, 900))
	a := d.asks()
	if len(a.queries) != queries {
		d.t.Errorf("%s has %d queries", name, len(a.queries))
	}
	return a
}

// TestDashboardAgents opens the view of agents with a key, compares each figure with the API's answers, and filters by
// rows. The lists must be about agents, even if the reader chose people in another view.
func TestDashboardAgents(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	d.figures.set(func(m *madeUp) { m.keys = fewValues })
	d.signIn(d.overview("who", "people"))
	a := d.view("4", "agents", "programs", 18)
	for name, query := range a.queries {
		ofPeople := name == "sent" || name == "sentBy" || name == "titles"
		agents := strings.Contains(string(query), `{"column":"visitorBot","operator":"notIn","values":[""]}`)
		if agents == (ofPeople || name == "everyone") {
			t.Errorf("%s is of agents: %v", name, agents)
		}
	}
	a.totals(map[string][2]string{
		"reads": {"reads", "eventsCount"}, "gone": {"gone", "eventsCount"}, "sent": {"sent", "peopleCount"},
	})
	for total, want := range map[string]string{
		"share": a.part("reads", "everyone", "eventsCount"), "programs": a.number("programs"),
		"agentPages": a.number("agentPages"),
	} {
		if got := d.texts("[data-total=" + total + "] strong"); len(got) != 1 || got[0] != want {
			t.Errorf("%s: the page has %v, the API %s", total, got, want)
		}
	}
	a.panels(map[string]string{
		"agents": "eventsCount", "programs": "eventsCount", "kinds": "eventsCount", "agentPages": "eventsCount",
		"missing": "eventsCount", "agentSearches": "eventsCount", "forms": "eventsCount", "verified": "eventsCount",
		"sentBy": "peopleCount",
	})
	// If the figure counts pages that were not found, an increase must have the colour for bad changes. If it counts
	// pages that were read, an increase must have the colour for good changes.
	for _, of := range []string{"[data-total=gone]", "[data-panel=missing]"} {
		d.run(`for (const e of document.querySelectorAll('` + of + ` .delta, [data-panel=agents] .delta'))
			e.classList.replace('down', 'up')`)
		colour := func(of string) string {
			return eval[string](d, `getComputedStyle(document.querySelector('`+of+` .delta.up')).color`)
		}
		if colour(of) == colour("[data-panel=agents]") {
			t.Errorf("a rise of %s is shown as good", of)
		}
	}
	a.rows("programs", "ChatGPT", "Claude Code", "Googlebot", "Other programs", "GPTBot")
	a.rows("kinds", "Asked by somebody", "Training of models", "Search engines", "Coding", "Tools", "Unknown")
	a.rows("forms", "HTML", "Markdown", "llms.txt", "MCP", "Unknown")
	a.graph("answeringSeries", "searchingSeries", "trainingSeries", "othersSeries")
	d.press("t")
	d.filters(map[string][2]string{
		"kinds":    {"is,agentClass,user-asked", "Kind of agent is Asked by somebody"},
		"programs": {"is,visitorBot,chatgpt", "Program is ChatGPT"},
		"verified": {"is,agentVerified,verified", "Proof of the name is Proved by the address"},
		"missing":  {"is,urlPath,/start", "Page is /start"},
	})
	d.press("p")
	if at := d.location(); strings.Contains(at, "who=") {
		t.Errorf("the lists of agents are others': %s", at)
	}
	d.empty("dashboard-agents", "No agent read anything in the last 7 days.")
	d.quiet()
}

// TestDashboardAudience opens the view of people and their sources with a key. It compares each figure with the API's
// answers, and filters by rows.
func TestDashboardAudience(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	d.figures.set(func(m *madeUp) { m.keys = fewValues })
	d.signIn(d.overview())
	a := d.view("5", "audience", "channels", 18)
	a.totals(map[string][2]string{
		"people": {"people", "peopleCount"}, "sessions": {"people", "sessionsCount"}, "views": {"views", "eventsCount"},
		"fromSearch": {"fromSearch", "peopleCount"}, "sent": {"sent", "peopleCount"},
	})
	lists := []string{
		"channels", "sources", "referrers", "campaigns", "mediums", "countries", "languages", "devices", "browsers",
		"systems", "contexts",
	}
	metrics := map[string]string{"landing": "eventsCount"}
	for _, list := range lists {
		metrics[list] = "peopleCount"
	}
	a.panels(metrics)
	a.rows("channels", "Search engines", "Direct", "AI assistants", "Other sites", "Social media")
	a.rows("languages", "Austrian German", "American English", "Brazilian Portuguese", "not a language", "Unknown")
	a.rows("systems", "Windows", "macOS", "Linux")
	a.graph("peopleSeries")
	d.press("t")
	d.filters(map[string][2]string{
		"channels":  {"is,channel,search", "Channel is Search engines"},
		"languages": {"is,visitorLanguage,de-AT", "Language is Austrian German"},
		"countries": {"is,visitorGeoCountry,DE", "Country is Germany"},
	})
	// Lists of agents count events, because agents are not visitors who return.
	d.press("p")
	d.until(`new URLSearchParams(location.search).get('who') === 'agents'`)
	d.shown()
	a = d.asks()
	for _, list := range lists {
		metrics[list] = "eventsCount"
	}
	a.panels(metrics)
	d.empty("dashboard-audience", "Nobody opened a page in the last 7 days.")
	d.quiet()
}
