package query

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/octavo-docs/octavo/schema"
)

// fixedRange is a range that does not end now. It has eight events of the fixture.
const fixedRange = `"range":{"from":"2026-02-13T12:30:45.678Z","to":"2026-03-15T12:30:45.678Z"}`

// current is a service whose cached answers are old, so that each look-up compares their version.
type current struct {
	*Service
	t   *testing.T
	now time.Time
}

func newCurrent(t *testing.T, conn driver.Conn, change func(*Config)) *current {
	t.Helper()
	c := &current{t: t, now: testNow}
	c.Service = newService(conn, keeping, func(c *Config) { c.Keep = 5 * time.Second }, change)
	c.results.Now = func() time.Time { return c.now }
	c.versions.age, c.versions.rest = 0, 0
	return c
}

// counts runs a query for the number of events and checks the number. It then makes all cached answers two minutes
// older.
func (c *current) counts(events int, cached bool) (headers map[string]string) {
	c.t.Helper()
	body, headers, err := c.Aggregate(c.t.Context(), Caller{}, testSite, []byte("{"+fixedRange+"}"), testNow)
	want := fmt.Sprintf(`{"columns":[{"column":"eventsCount","values":[%d]}]}`, events)
	if err != nil || string(body) != want || (headers[headerAge] != "") != cached {
		c.t.Errorf("%s %v, %v; want %s, cached %t", body, headers, err, want, cached)
	}
	c.now = c.now.Add(2 * time.Minute)
	return headers
}

// TestCurrentAnswersPromiseOnlyTheirEvents checks the header Octavo-Fresh-Until of a cached answer. Its time was
// determined before the version was read, because the answer lacks events that were stored later.
func TestCurrentAnswersPromiseOnlyTheirEvents(t *testing.T) {
	t.Parallel()
	conn := store(t)
	insert(t, conn, testSite, fixture())
	fresh := testNow
	c := newCurrent(t, conn, func(c *Config) {
		c.FreshUntil = func(context.Context, string) (time.Time, bool) { return fresh, true }
	})
	ask := func(events int, cached bool, until time.Time) {
		t.Helper()
		if got := c.counts(events, cached)[headerFreshUntil]; got != schema.FormatMoment(until) {
			t.Errorf("%d events up to %s, want %s", events, got, schema.FormatMoment(until))
		}
	}
	ask(8, false, testNow)
	fresh = fresh.Add(time.Minute)
	ask(8, true, fresh)
	before := fresh
	c.versions.age = time.Hour
	insert(t, conn, testSite, fixture()[:1])
	fresh = fresh.Add(time.Minute)
	ask(8, true, before)
	c.versions.age = 0
	ask(9, false, fresh)
}

// TestVersionsOfRowsThatLeave checks that an answer is computed again if the site has other events, even if their
// number is the same. This happens after an erasure, and after a part was set aside.
func TestVersionsOfRowsThatLeave(t *testing.T) {
	t.Parallel()
	conn := store(t)
	insert(t, conn, testSite, fixture())
	c := newCurrent(t, conn, func(*Config) {})
	other := func(visitor uint64) {
		t.Helper()
		event := slices.Clone(fixture()[:1])
		event[0].Visitor = visitor
		insert(t, conn, testSite, event)
	}
	other(101)
	c.counts(9, false)
	for visitor := uint64(101); visitor < 104; visitor++ { // erasures in one second
		execute(t, conn, fmt.Sprintf(
			"ALTER TABLE events DELETE WHERE visitor = %d SETTINGS mutations_sync = 2", visitor))
		other(visitor + 1)
		c.counts(9, false)
		c.counts(9, true)
	}
	var part string
	row := conn.QueryRow(t.Context(), "SELECT DISTINCT _part FROM events WHERE visitor = 104")
	if err := row.Scan(&part); err != nil {
		t.Fatal(err)
	}
	execute(t, conn, "ALTER TABLE events DETACH PART '"+part+"'")
	other(105)
	c.counts(9, false)
	c.counts(9, true)
	execute(t, conn, "ALTER TABLE events ATTACH PART '"+part+"'")
	c.counts(10, false)
	c.counts(10, true)
}

// TestNoVersionOnClusters checks that no request gets a version if the table does not store its rows itself. The
// embedded engine has no distributed tables, so a view replaces the table.
func TestNoVersionOnClusters(t *testing.T) {
	t.Parallel()
	conn := store(t)
	insert(t, conn, testSite, fixture())
	execute(t, conn, "RENAME TABLE events TO events_local")
	execute(t, conn, "CREATE VIEW events AS SELECT * FROM events_local")
	c := newCurrent(t, conn, func(*Config) {})
	for range 2 {
		if is := c.versions.current(t.Context(), testSite); is.version != "" {
			t.Errorf("version %s", is.version)
		}
		c.counts(8, false)
	}
}

// TestCurrentAnswersAreIncomplete checks that a cached answer reports rows that were found missing later. If rows are
// missing, a request for an exact answer is refused.
func TestCurrentAnswersAreIncomplete(t *testing.T) {
	t.Parallel()
	conn := store(t)
	insert(t, conn, testSite, fixture())
	var missing []schema.MissingRows
	c := newCurrent(t, conn, func(c *Config) { c.Missing = func() []schema.MissingRows { return missing } })
	const exactly = `{` + fixedRange + `,"accuracy":"exact"}`
	exact := func() error {
		_, _, err := c.Aggregate(t.Context(), Caller{}, testSite, []byte(exactly), testNow)
		return err
	}
	if headers := c.counts(8, false); headers[headerComplete] != "" || exact() != nil {
		t.Errorf("%v, %v", headers, exact())
	}
	missing = []schema.MissingRows{{Month: 202603, Rows: 7, First: testNow, Last: testNow}}
	if headers := c.counts(8, true); headers[headerComplete] != "false" || headers[headerMissing] != "7" {
		t.Errorf("%v", headers)
	}
	if err := exact(); schema.DamageOf(err) == nil {
		t.Errorf("an exact answer: %v", err)
	}
	missing = nil
	if headers := c.counts(8, true); headers[headerComplete] != "" || exact() != nil {
		t.Errorf("%v, %v", headers, exact())
	}
}

// TestCurrentAnswersOfViews checks that an answer has no events that have meanwhile left the ranges of the caller's
// view.
func TestCurrentAnswersOfViews(t *testing.T) {
	t.Parallel()
	conn := store(t)
	insert(t, conn, testSite, fixture())
	c := newCurrent(t, conn, func(*Config) {})
	who := Caller{View: &schema.InsightsView{Ranges: []byte(`["last24Hours"]`)}}
	const morning = `{"range":{"from":"2026-03-15T10:00:00Z","to":"2026-03-15T12:00:00Z"}}`
	next := time.Date(2026, 3, 16, 11, 0, 0, 0, time.UTC)
	for _, ask := range []struct {
		at     time.Time
		events int
	}{{testNow, 2}, {testNow.Add(time.Second), 2}, {next, 1}} {
		c.now = ask.at
		body, _, err := c.Aggregate(t.Context(), who, testSite, []byte(morning), ask.at)
		want := fmt.Sprintf(`{"columns":[{"column":"eventsCount","values":[%d]}]}`, ask.events)
		if err != nil || string(body) != want {
			t.Errorf("at %v: %s, %v; want %s", ask.at, body, err, want)
		}
	}
	if _, _, err := c.Aggregate(
		t.Context(), who, testSite, []byte(morning), next.Add(2*time.Hour),
	); !schema.IsCode(err, schema.CodeForbidden) {
		t.Errorf("after the range has left: %v", err)
	}
}

// TestPagesAreNotCurrent checks that a list of pages has the present titles, although no event was stored.
func TestPagesAreNotCurrent(t *testing.T) {
	t.Parallel()
	conn := store(t)
	insert(t, conn, testSite, fixture())
	title := "Before"
	c := newCurrent(t, conn, func(c *Config) {
		c.Pages = func(context.Context, string, []string, int) ([]schema.SitePage, bool, error) {
			return []schema.SitePage{{Space: "sp1", ID: "pg1", Path: "a", Title: title}}, true, nil
		}
	})
	for _, title = range []string{"Before", "After"} {
		body, _, err := c.Answer(t.Context(), Caller{}, Pages, testSite, []byte("{"+fixedRange+"}"), testNow)
		if err != nil || !strings.Contains(string(body), `"`+title+`"`) {
			t.Errorf("%s, %v; want the title %s", body, err, title)
		}
		c.now = c.now.Add(2 * time.Minute)
	}
}

// TestVersionsRest checks that a version is read less often if reading it takes long.
func TestVersionsRest(t *testing.T) {
	t.Parallel()
	conn := store(t)
	insert(t, conn, testSite, fixture())
	v := newService(conn).versions
	v.age = 0
	first := v.current(t.Context(), testSite)
	if first.version == "" || first.took <= 0 {
		t.Fatalf("%+v", first)
	}
	insert(t, conn, testSite, fixture()[:1])
	for _, c := range []struct {
		took time.Duration
		same bool
	}{{time.Hour, true}, {0, false}} {
		known := first
		known.took = c.took
		v.sites[testSite] = known
		if is := v.current(t.Context(), testSite); (is.version == first.version) != c.same {
			t.Errorf("a version that took %v: %s, then %s", c.took, first.version, is.version)
		}
	}
}

// TestVersionsCountChangedTables checks that a site's events are counted only after the table's parts have changed. A
// merge and another site's events do not change the version.
func TestVersionsCountChangedTables(t *testing.T) {
	t.Parallel()
	conn := &counting{Conn: store(t), text: countOf}
	insert(t, conn, testSite, fixture())
	v := newService(conn).versions
	v.age, v.rest = 0, 0
	version, counts := "", int32(0)
	for _, step := range []struct {
		name            string
		do              func()
		counted, events bool // whether the events are counted, and whether the version is another
	}{
		{"the first version", func() {}, true, true},
		{"nothing", func() {}, false, false},
		{"another site's events", func() { insert(t, conn, "site_2", fixture()) }, true, false},
		{"nothing again", func() {}, false, false},
		{"the site's events", func() { insert(t, conn, testSite, fixture()[:1]) }, true, true},
		{"a merge", func() { execute(t, conn, "OPTIMIZE TABLE events FINAL") }, true, false},
		{"an erasure", func() {
			execute(t, conn, "ALTER TABLE events DELETE WHERE site = 'site_2' SETTINGS mutations_sync = 2")
		}, true, true},
		{"nothing at the end", func() {}, false, false},
	} {
		step.do()
		is := v.current(t.Context(), testSite)
		if is.version == "" || (is.version != version) != step.events || (conn.counts.Load() > counts) != step.counted {
			t.Errorf("%s: version %s after %s, %d counts", step.name, is.version, version, conn.counts.Load()-counts)
		}
		version, counts = is.version, conn.counts.Load()
	}
}
