package query

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/octavo-docs/octavo/query/resultcache"
	"github.com/octavo-docs/octavo/schema"
)

// settable is a site whose settings a test changes between queries.
type settable struct {
	Site
	err error
}

func (s *settable) config(c *Config) {
	c.Site = func(context.Context, string) (Site, error) { return s.Site, s.err }
}

// calendarRequests depend on the time zone or on the first day of weeks.
var calendarRequests = map[string]Report{
	`"range":"last30Days","groupBy":[{"column":"datetime","interval":"day"}]`:              Aggregate,
	`"range":"last30Days","groupBy":[{"column":"datetime","interval":"week"}],"fill":true`: Aggregate,
	`"range":"thisWeek","compare":"previousPeriod"`:                                        Aggregate,
	`"range":"today","groupBy":[{"column":"hourOfDay"}]`:                                   Aggregate,
	`"range":{"from":"2026-03-01","to":"2026-03-15"},"steps":[{},{}]`:                      Funnel,
	`"range":"last30Days","interval":"week"`:                                               Retention,
}

// TestSiteSettings changes the settings of a site between queries. A query that sets neither the time zone nor the
// first day of weeks uses the site's settings. This is tested for a single query, in a batch, and with an explanation.
// Answers that were cached before the change are not used.
func TestSiteSettings(t *testing.T) {
	t.Parallel()
	conn := store(t)
	insert(t, conn, testSite, fixture())
	var site settable
	service, plain := newService(conn, keeping, site.config), newService(conn)
	answer := func(s *Service, of Report, body string) string {
		t.Helper()
		got, _, err := s.Answer(t.Context(), Caller{}, of, testSite, []byte(body), testNow)
		if err != nil {
			t.Fatalf("%s: %v", body, err)
		}
		return string(got)
	}
	different := map[string]map[string]bool{}
	for _, site.Site = range []Site{
		{}, {Timezone: "Asia/Kolkata"}, {WeekStart: "sunday"}, {Timezone: "America/New_York", WeekStart: "saturday"},
		{Timezone: "Pacific/Auckland"}, {}, {Timezone: "UTC", WeekStart: "monday"},
	} {
		for members, of := range calendarRequests {
			name := fmt.Sprintf("%+v %s", site.Site, members)
			bare := "{" + members + "}"
			named := fmt.Sprintf(`{%s,"timezone":%q,"weekStart":%q}`, members, site.timezone(), site.weekStart())
			want := answer(plain, of, named)
			if got := answer(service, of, bare); got != want {
				t.Errorf("%s: %s, want %s", name, got, want)
			}
			if different[members] == nil {
				different[members] = map[string]bool{}
			}
			different[members][want] = true
			batch, _ := askBatch(t, service, fmt.Sprintf(`{"queries":{"a":{"report":%q,%s}}}`, of, members))
			if got := string(batch.Queries["a"].Answer); got != want {
				t.Errorf("%s: %s in a batch, want %s", name, got, want)
			}
			x, err := service.Explain(t.Context(), of, testSite, []byte(bare), testNow)
			if err != nil || string(x.Answer) != want {
				t.Errorf("%s: %s explained, %v, want %s", name, x.Answer, err, want)
			}
			// The settings of a request override the settings of the site.
			own := fmt.Sprintf(`{%s,"timezone":"Europe/Berlin","weekStart":"friday"}`, members)
			if got, want := answer(service, of, own), answer(plain, of, own); got != want {
				t.Errorf("%s: %s with its own zone, want %s", name, got, want)
			}
		}
	}
	for members, answers := range different {
		if len(answers) < 2 && !strings.Contains(members, "steps") && !strings.Contains(members, "today") {
			t.Errorf("%s is the same with all settings", members)
		}
	}
}

// TestSiteSettingsOfOtherAnswers: live answers and segments use a new time zone of the site immediately.
func TestSiteSettingsOfOtherAnswers(t *testing.T) {
	t.Parallel()
	conn := store(t)
	event := fixture()[0]
	event.TimeMillis = testNow.Add(-time.Minute).UnixMilli()
	insert(t, conn, testSite, fixture()[:1])
	var site settable
	service := newService(conn, keeping, site.config)
	for _, c := range []struct{ zone, offset, from string }{
		{"", "", "2026-02-13T12:30:45.678Z"},
		{"Asia/Kolkata", "+05:30", "2026-02-13T12:30:45.678Z"},
		{"America/New_York", "-04:00", "2026-02-13T13:30:45.678Z"}, // clocks in New York went forward on March 8
		{"", "", "2026-02-13T12:30:45.678Z"},
	} {
		site.Timezone = c.zone
		live, _, err := service.Live(t.Context(), Caller{}, testSite, nil, testNow)
		if err != nil || c.offset != "" && !strings.Contains(string(live), c.offset+`"`) ||
			c.offset == "" && strings.Contains(string(live), `:00"`) {
			t.Errorf("%q: live answer %s, %v", c.zone, live, err)
		}
		_, headers, err := service.VisitorSegments(t.Context(), Caller{}, testSite, schema.PageRequest{}, testNow)
		if from, _, _ := strings.Cut(headers[headerRange], "/"); err != nil || from != c.from {
			t.Errorf("%q: segments from %s, want %s, %v", c.zone, from, c.from, err)
		}
	}
}

// TestSiteIsPartOfKeys: requests about sites with different settings or hosts have different keys. The order of hosts
// does not matter.
func TestSiteIsPartOfKeys(t *testing.T) {
	t.Parallel()
	for members, of := range calendarRequests {
		key := func(site Site) resultcache.Key {
			r, err := compilers[of](reach{site: site}, []byte("{"+members+"}"), testNow)
			if err != nil {
				t.Fatal(err)
			}
			q := query{kind: of, site: testSite}
			return q.key(r.identity())
		}
		keys := map[resultcache.Key]Site{}
		for _, site := range []Site{
			{}, {Timezone: "Asia/Kolkata"}, {WeekStart: "sunday"}, {Hosts: []string{"a"}}, {Hosts: []string{"a", "b"}},
			{Timezone: "Asia/Kolkata", Hosts: []string{"a"}},
		} {
			if other, ok := keys[key(site)]; ok {
				t.Errorf("%s: %+v and %+v have one key", members, site, other)
			}
			keys[key(site)] = site
		}
		if key(Site{Hosts: []string{"b", "a"}}) != key(Site{Hosts: []string{"a", "b"}}) {
			t.Errorf("%s: the order of hosts matters", members)
		}
		if key(Site{Timezone: "UTC", WeekStart: "monday"}) != key(Site{}) {
			t.Errorf("%s: the defaults have another key", members)
		}
	}
}

// TestUnknownSettings: all queries fail while the settings of the site cannot be read.
func TestUnknownSettings(t *testing.T) {
	t.Parallel()
	site := settable{err: errors.New("the database is down")}
	service := newService(nil, site.config) // No statement may run.
	_, _, alone := service.Aggregate(t.Context(), Caller{}, testSite, []byte(`{"range":"last30Days"}`), testNow)
	_, _, live := service.Live(t.Context(), Caller{}, testSite, nil, testNow)
	_, _, segments := service.VisitorSegments(t.Context(), Caller{}, testSite, schema.PageRequest{}, testNow)
	one := []byte(`{"queries":{"a":{"range":"last30Days"}}}`)
	_, _, batch := service.Batch(t.Context(), Caller{}, testSite, one, testNow)
	for what, err := range map[string]error{
		"a query": alone, "a batch": batch, "a live answer": live, "segments": segments,
	} {
		e, ok := errors.AsType[*schema.Error](err)
		if !ok || e.Code != schema.CodeUnavailable || e.RetryAfter == 0 || strings.Contains(e.Message, "down") {
			t.Errorf("%s: %v", what, err)
		}
	}
}
