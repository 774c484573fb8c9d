package query

import (
	"fmt"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/octavo-docs/octavo/query/resultcache"
	"github.com/octavo-docs/octavo/schema"
)

// TestKept checks that equal queries about a site get a cached answer for a short time, with its age. A fresh query
// runs again, and so does a query after the site's events changed.
func TestKept(t *testing.T) {
	t.Parallel()
	conn := store(t)
	insert(t, conn, testSite, fixture())
	var passed time.Duration
	service := newService(conn, keeping)
	// With this engine, versions are unknown, and cached answers are used for a limited time.
	service.versions.engine = "Distributed"
	service.results.Now = func() time.Time { // each reading of the clock takes a second
		passed += time.Second
		return testNow.Add(passed)
	}
	ask := func(site, body string, events int, who Caller) map[string]string {
		t.Helper()
		answer, headers, err := service.Aggregate(t.Context(), who, site, []byte(body), testNow)
		want := fmt.Sprintf(`{"columns":[{"column":"eventsCount","values":[%d]}]}`, events)
		if err != nil || string(answer) != want {
			t.Errorf("%s: %s %v, want %s", body, answer, err, want)
		}
		return headers
	}
	const month, exactly = `{"range":"last30Days"}`, `{"range":"last30Days","accuracy":"exact"}`
	first := ask(testSite, month, 8, Caller{Token: "1"})
	insert(t, conn, testSite, fixture()[:1])
	again := ask(
		testSite, ` { "range" : "last30Days" , "select" : [ {"column":"eventsCount"} ] } `, 8, Caller{Token: "2"},
	)
	aged := again[headerAge] != "" && again[headerAge] != "0"
	if first[headerAge] != "" || !aged || again[headerRowsRead] != first[headerRowsRead] {
		t.Errorf("%v, then %v", first, again)
	}
	ask(testSite, `{"range":"last7Days"}`, 7, Caller{})
	ask(testSite, exactly, 9, Caller{})
	ask("site_2", month, 0, Caller{})
	if fresh := ask(testSite, month, 9, Caller{Fresh: true}); fresh[headerAge] != "" {
		t.Errorf("a fresh answer has the age %s", fresh[headerAge])
	}
	if after := ask(testSite, month, 9, Caller{}); after[headerAge] == "" {
		t.Error("nothing is kept of a fresh answer")
	}
	passed += time.Minute
	ask(testSite, month, 9, Caller{})
	insert(t, conn, testSite, fixture()[1:2])
	ask(testSite, month, 9, Caller{})
	service.Forget("site_2")
	ask(testSite, month, 9, Caller{})
	service.Forget(testSite)
	ask(testSite, month, 10, Caller{})
	kept := testutil.ToFloat64(service.metrics.keptBytes)
	if one := float64(len(`{"columns":[{"column":"eventsCount","values":[10]}]}`)); kept < one || kept > one+1<<10 {
		t.Errorf("%v bytes are kept, want one answer", kept)
	}
}

// TestCurrentAnswers checks that a cached answer is used until events of its site change, however long ago it was
// computed. A cached answer about a range that ends now is used for at most a minute.
func TestCurrentAnswers(t *testing.T) {
	t.Parallel()
	conn := store(t)
	insert(t, conn, testSite, fixture())
	service := newService(conn, keeping, func(c *Config) { c.Keep = 5 * time.Second })
	service.versions.age, service.versions.rest = 0, 0
	now := testNow
	service.results.Now = func() time.Time { return now }
	const fixed = `{"range":{"from":"2026-02-13T12:30:45.678Z","to":"2026-03-15T12:30:45.678Z"}}`
	ask := func(body string, events int, cached bool) {
		t.Helper()
		answer, headers, err := service.Aggregate(t.Context(), Caller{}, testSite, []byte(body), testNow)
		want := fmt.Sprintf(`{"columns":[{"column":"eventsCount","values":[%d]}]}`, events)
		if err != nil || string(answer) != want || (headers[headerAge] != "") != cached {
			t.Errorf("%s: %s, %v, %v; want %s, cached %t", body, answer, headers, err, want, cached)
		}
		now = now.Add(time.Hour)
	}
	other := fixture()[:1]
	other[0].Visitor = 101
	ask(fixed, 8, false)
	ask(fixed, 8, true)
	insert(t, conn, "site_2", fixture()[:1])
	ask(fixed, 8, true)
	insert(t, conn, testSite, other)
	ask(fixed, 9, false)
	ask(fixed, 9, true)
	execute(t, conn, "OPTIMIZE TABLE events FINAL")
	ask(fixed, 9, true) // a merge changes no event
	execute(t, conn, "ALTER TABLE events DELETE WHERE visitor = 101 SETTINGS mutations_sync = 2")
	insert(t, conn, testSite, fixture()[:1])
	ask(fixed, 9, false) // the number of events has not changed
	const moving = `{"range":"last30Days"}`
	ask(moving, 9, false)
	now = now.Add(59*time.Second - time.Hour)
	ask(moving, 9, true)
	now = now.Add(2*time.Second - time.Hour)
	ask(moving, 9, false)
}

// TestNothingIsKept checks that every query runs if Keep is 0.
func TestNothingIsKept(t *testing.T) {
	t.Parallel()
	service := newService(newSlow(t))
	for range 3 {
		if _, headers, err := service.Aggregate(
			t.Context(), Caller{}, "light", []byte(byCountry), testNow,
		); err != nil || headers[headerAge] != "" {
			t.Errorf("%v %v", headers, err)
		}
	}
	wantAnswers(t, service, map[resultcache.Source]float64{resultcache.Run: 3})
}

// TestKeys checks that queries with equal keys have equal statements, whenever they are sent. Spaces and the order of
// members do not change the key.
func TestKeys(t *testing.T) {
	t.Parallel()
	statements, keys := map[string]string{}, 0
	check := func(body []byte) {
		p, err := compile(Site{ID: testSite}, body, testNow)
		if err != nil {
			return
		}
		st := lower(p)
		text := fmt.Sprintf("%s %#v %s %v", st.SQL, st.Params, p, p.paged)
		if p.compare != nil {
			text += fmt.Sprint(p.compare)
		}
		if other, ok := statements[p.key]; ok && other != text {
			t.Errorf("%s: one key for\n%s\n%s", body, text, other)
		} else if !ok {
			keys++
		}
		statements[p.key] = text
		later, err := compile(Site{ID: testSite}, body, testNow.Add(3*time.Second))
		if err != nil || later.key != p.key {
			t.Errorf("%s: another key a few seconds later: %v", body, err)
		}
	}
	for _, cases := range rowFiles(t) {
		for _, c := range cases {
			check([]byte(c.request))
		}
	}
	for _, end := range []string{"04", "05"} {
		for _, more := range []string{
			"", `,"fill":true`, `,"cursor":""`, `,"compare":"previousPeriod"`, `,"compare":"previousYear"`, `,"timezone":"Europe/Berlin"`, `,"limit":10`,
			`,"compare":{"from":"2025-01-01T00:00:00Z","to":"2025-01-02T00:00:00Z"}`, `,"compare":{"from":"2025-01-01T00:00:00Z","to":"2025-01-03T00:00:00Z"}`,
			`,"where":[{"column":"url","values":["a b","c"]}]`, `,"where":[{"column":"url","values":["a","b c"]}]`, `,"where":[{"column":"url","values":["a\" \"b","c"]}]`,
			`,"where":[{"column":"page","values":[{"space":"a b","page":"c"}]}]`, `,"where":[{"column":"page","values":[{"space":"a","page":"b c"}]}]`,
			`,"where":[{"column":"visitorClaim","claim":"a","values":["b"]}]`, `,"where":[{"column":"visitorClaim","claim":"a [b]","values":["b"]}]`,
		} {
			of := `{"range":{"from":"2026-03-01T00:00:00Z","to":"2026-03-` + end + `T00:00:00Z"},` +
				`"groupBy":[{"column":"datetime","interval":"day"}]`
			check([]byte(of + more + `}`))
		}
	}
	if keys < 100 {
		t.Errorf("%d queries only", keys)
	}
}

// TestTodayIsANewDay checks that an answer about today is not reused on the next day, although it is young.
func TestTodayIsANewDay(t *testing.T) {
	t.Parallel()
	conn := store(t)
	insert(t, conn, testSite, fixture())
	service := newService(conn, keeping)
	before := time.Date(2026, 3, 15, 22, 59, 59, 0, time.UTC) // in Berlin, the day ends a second later
	after := before.Add(2 * time.Second)
	view := func(ranges string) Caller {
		return Caller{View: &schema.InsightsView{Ranges: []byte(ranges), Timezone: "Europe/Berlin"}}
	}
	for name, c := range map[string]struct {
		who    Caller
		body   string
		shared bool
	}{
		"today":     {Caller{}, `"range":"today"`, false},
		"compared":  {Caller{}, `"range":"today","compare":"previousPeriod"`, false},
		"this week": {Caller{}, `"range":"thisWeek"`, false}, // a Sunday ends
		"month":     {Caller{}, `"range":"thisMonth"`, true},
		"hours":     {Caller{}, `"range":"last24Hours"`, true},
		"view":      {view(`["today"]`), `"range":"lastYear"`, false},
	} {
		t.Run(name, func(t *testing.T) {
			ask := func(now time.Time) (string, bool) {
				t.Helper()
				body := `{"timezone":"Europe/Berlin",` + c.body + `}`
				answer, headers, err := service.Aggregate(t.Context(), c.who, testSite, []byte(body), now)
				if err != nil {
					t.Fatal(err)
				}
				return string(answer), headers[headerAge] != ""
			}
			first, _ := ask(before)
			second, shared := ask(after)
			if shared != c.shared || (second == first) != c.shared {
				t.Errorf("%s, then %s, shared %t", first, second, shared)
			}
		})
	}
}
