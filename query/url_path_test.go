package query

import (
	"strings"
	"testing"

	"github.com/octavo-docs/octavo/schema/insights"
)

// TestURLPath checks that all URLs of a site's home page have the same path. So they are one row of an answer, and the
// same filter and the same step of a funnel find all of them. Senders may end a home page's URL in different ways. A
// URL without a host has no home page.
func TestURLPath(t *testing.T) {
	t.Parallel()
	conn := store(t)
	var events []insights.Event
	add := func(urls ...string) {
		for _, url := range urls {
			e := fixture()[0]
			e.URL, e.TimeMillis = url, testNow.UnixMilli()-int64(1000-len(events))
			events = append(events, e)
		}
	}
	add(
		"https://docs.example.com",
		"https://docs.example.com/",
		"https://docs.example.com?utm_source=x",
		"https://docs.example.com#f",
		"https://docs.example.com:8443",
		"https://docs.example.com/?q=/a",
		"https://docs.example.com?next=/guide/a",
		"https://docs.example.com#/route?x",
		"https://docs.example.com?a#b/c",
		"https://[::1]:80?x",
		"http://user@localhost",
		"https://docs.example.com?at=https://other.example/x",
	)
	home := len(events)
	add(
		"https://docs.example.com/guide?next=/b",
		"https://docs.example.com/guide#/b",
		"https://docs.example.com//",
		"about:blank",
		"about:blank?x=://y",
	)
	insert(t, conn, testSite, events)
	service := newService(conn)
	answer := func(body string) string {
		t.Helper()
		answer, _, err := service.Aggregate(
			t.Context(),
			Caller{},
			testSite,
			[]byte(`{"range":"lastYear",`+body+`}`),
			testNow,
		)
		if err != nil {
			t.Fatal(err)
		}
		return rowsText(t, answer)
	}
	group := `"groupBy":[{"column":"urlPath"}]`
	if got, want := answer(group), "urlPath: [\"/\",\"\",\"/guide\",\"//\"]\neventsCount: [12,2,2,1]"; got != want ||
		home != 12 {
		t.Errorf("got %s, want %s", got, want)
	}
	for _, c := range []struct{ name, filter, want string }{
		{"the home page", `"values":["/"]`, "12"},
		{"the home page without its slash", `"values":[""]`, "12"},
		{"other pages", `"operator":"notIn","values":["/"]`, "5"},
		{"other pages without the slash", `"operator":"notIn","values":[""]`, "5"},
		{"a pattern", `"operator":"matches","values":["^/$"]`, "12"},
		{"a beginning", `"operator":"startsWith","values":["/"]`, "15"},
		{"a part", `"operator":"contains","values":["/"]`, "15"},
		{"a part of a query", `"operator":"contains","values":["next"]`, "0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := answer(`"where":[{"column":"urlPath",` + c.filter + `}]`); got != "eventsCount: ["+c.want+"]" {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
	funnel, _, err := service.Answer(t.Context(), Caller{}, Funnel, testSite, []byte(`{"range":"lastYear","steps":[`+
		`{"where":[{"column":"urlPath","values":["/"]}]},{"where":[{"column":"urlPath",`+
		`"values":["/guide"]}]}]}`), testNow)
	if err != nil || !strings.Contains(string(funnel), `"count":1`) || strings.Contains(string(funnel), `"count":0`) {
		t.Errorf("%s, %v", funnel, err)
	}
}
