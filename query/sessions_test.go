package query

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/insights"
)

// sharedSession are page views of two visitors under one session id.
func sharedSession() []insights.Event {
	list := make([]insights.Event, 3)
	for i := range list {
		list[i] = fixture()[0]
		list[i].TimeMillis, list[i].Visitor, list[i].Session = testNow.UnixMilli()-int64(
			3-i,
		)*3_600_000, uint64(
			1+i/2,
		), 7
	}
	return list
}

// TestSessionsAreOfOneVisitor checks that each answer has the same sessions, whatever its source is.
func TestSessionsAreOfOneVisitor(t *testing.T) {
	t.Parallel()
	conn := store(t)
	insert(t, conn, testSite, sharedSession())
	raw, visits := newService(conn), newService(conn)
	visits.sources.limits = sourceLimits{many: math.MaxUint64}
	for name, s := range map[string]*Service{"raw": raw, "visits": visits} {
		body, headers, err := s.Aggregate(
			t.Context(),
			Caller{},
			testSite,
			[]byte(`{"range":"last7Days","select":[{"column":"sessionsCount"},{"column":"visitorsCount"}]}`),
			testNow,
		)
		if want := `{"columns":[{"values":[2]},{"values":[2]}]}`; err != nil || headers[headerSource] != name ||
			!equalColumns(t, body, want) {
			t.Errorf("%s of %s: %s, %v", name, headers[headerSource], body, err)
		}
	}
	body, _, err := raw.Aggregate(
		t.Context(),
		Caller{},
		testSite,
		[]byte(
			`{"range":"last7Days","select":[{"column":"sessionsCount"},{"column":"pagesPerSession"},`+
				`{"column":"bounceRate"}]}`,
		),
		testNow,
	)
	if want := `{"columns":[{"values":[2]},{"values":[1.5]},{"values":[0.5]}]}`; err != nil ||
		!equalColumns(t, body, want) {
		t.Errorf("with columns of sessions: %s, %v", body, err)
	}
	body, _, err = raw.VisitorSegments(t.Context(), Caller{}, testSite, schema.PageRequest{}, testNow)
	var segments struct{ Items []Segment }
	if err != nil || json.Unmarshal(body, &segments) != nil || len(segments.Items) != 1 ||
		segments.Items[0].Sessions != 2 {
		t.Errorf("segments: %s, %v", body, err)
	}
}

// TestEventsOfOneMoment checks that events of the same millisecond are in the order of sending, including across
// messages.
func TestEventsOfOneMoment(t *testing.T) {
	t.Parallel()
	conn := store(t)
	var sent []insights.Event
	for _, page := range []string{"p2", "p3", "p1"} {
		e := fixture()[0]
		e.Page, e.TimeMillis = page, testNow.UnixMilli()-1000
		sent = append(sent, e)
	}
	insert(t, conn, testSite, sent[:2])
	insert(t, conn, testSite, sent[2:])
	service := newService(conn)
	body, _, err := service.Aggregate(
		t.Context(),
		Caller{},
		testSite,
		[]byte(`{"range":"last24Hours","select":[{"column":"entryPage"},{"column":"exitPage"}]}`),
		testNow,
	)
	if want := `{"columns":[{"values":[{"page":"p2","space":"sp1"}]},{"values":[{"page":"p1",` +
		`"space":"sp1"}]}]}`; err != nil ||
		!equalColumns(t, body, want) {
		t.Errorf("%s, %v", body, err)
	}
	step := func(page string) string {
		return `{"where":[{"column":"page","values":[{"page":"` + page + `","space":"sp1"}]}]}`
	}
	for _, c := range []struct {
		steps, strict string
		last          uint64
	}{
		{step("p2") + "," + step("p3") + "," + step("p1"), "", 0},
		{step("p2") + "," + step("p3") + "," + step("p1"), `,"strictIncrease":true`, 0},
		{step("p2") + "," + step("p3") + "," + step("p1"), `,"strictIncrease":false`, 1},
		{step("p2") + "," + step("p1") + "," + step("p3"), `,"strictIncrease":false`, 0},
		{`{},{},{}`, `,"strictIncrease":false`, 1},
		{`{},{},{},{}`, `,"strictIncrease":false`, 0}, // no event matches two steps
	} {
		body, _, err := service.Answer(
			t.Context(),
			Caller{},
			Funnel,
			testSite,
			[]byte(`{"range":"last24Hours","window":1,"steps":[`+c.steps+`]`+c.strict+`}`),
			testNow,
		)
		var answer struct{ Steps []struct{ Count uint64 } }
		if err != nil || json.Unmarshal(body, &answer) != nil || answer.Steps[len(answer.Steps)-1].Count != c.last {
			t.Errorf("%s%s: %s, %v", c.steps, c.strict, body, err)
		}
	}
}

// TestSessionsAtBorders checks sessions whose first page view is before the range, or whose last page view is after it.
// Such a session is not a bounce, and does not begin or end at the range's border.
func TestSessionsAtBorders(t *testing.T) {
	t.Parallel()
	conn := store(t)
	day := time.Date(2026, 3, 10, 0, 0, 0, 0, time.UTC)
	var sent []insights.Event
	view := func(session uint64, at time.Time, page string) {
		e := fixture()[0]
		e.Session, e.TimeMillis, e.Page = session, at.UnixMilli(), page
		sent = append(sent, e)
	}
	view(1, day.Add(-10*time.Second), "p1")
	view(1, day.Add(10*time.Second), "p2")
	view(2, day.Add(12*time.Hour), "p3")
	// p4 has the earliest time within SessionReach before the range. p6 has the latest time within SessionReach after
	// the range.
	view(3, day.Add(-12*time.Hour), "p4")
	view(3, day.Add(time.Hour), "p5")
	view(3, day.Add(36*time.Hour-time.Millisecond), "p6")
	view(4, day.Add(-12*time.Hour-time.Millisecond), "p7") // p7 and p9 are outside of SessionReach
	view(4, day.Add(time.Hour), "p8")
	view(4, day.Add(36*time.Hour), "p9")
	view(5, day.Add(-time.Millisecond), "p10") // before the range
	view(5, day.Add(24*time.Hour), "p11")
	insert(t, conn, testSite, sent)
	service := newService(conn)
	pages := func(ids ...string) string {
		var values []string
		for _, id := range ids {
			values = append(values, `{"page":"`+id+`","space":"sp1"}`)
		}
		return `{"values":[` + strings.Join(values, ",") + `]}`
	}
	for request, want := range map[string]string{
		`"select":[{"column":"sessionsCount"},{"column":"bounceRate"},{"column":"pagesPerSession"},` +
			`{"column":"sessionDuration"}]`: `{"values":[4]},{"values":[0.5]},{"values":[1.75]},` +
			`{"values":[43204.99975]}`,
		`"select":[{"column":"entryPage"},{"column":"exitPage"}],` +
			`"order":{"by":{"column":"entryPage"},"direction":"asc"}`: pages("p1", "p3", "p4", "p8") + "," +
			pages("p2", "p3", "p6", "p8"),
		`"where":[{"column":"entryPage","values":[{"page":"p1","space":"sp1"}]}],` +
			`"select":[{"column":"eventsCount"}]`: `{"values":[1]}`,
	} {
		body, _, err := service.Aggregate(
			t.Context(),
			Caller{},
			testSite,
			[]byte(`{"range":{"from":"2026-03-10T00:00:00Z","to":"2026-03-11T00:00:00Z"},`+request+`}`),
			testNow,
		)
		if err != nil || !equalColumns(t, body, `{"columns":[`+want+`]}`) {
			t.Errorf("%s: %s, %v, want %s", request, body, err, want)
		}
	}
	// Sessions that began before the range of a preset are complete, too.
	body, _, err := service.Aggregate(
		t.Context(),
		Caller{},
		testSite,
		[]byte(`{"range":"last24Hours","select":[{"column":"bounceRate"}]}`),
		day.Add(24*time.Hour),
	)
	if err != nil || !equalColumns(t, body, `{"columns":[{"values":[0.5]}]}`) {
		t.Errorf("last24Hours: %s, %v", body, err)
	}
}

// TestDayAloneIsDayInChart checks that a query of one day and a chart of several days have the same numbers for the
// day's sessions. No session is longer than SessionReach.
func TestDayAloneIsDayInChart(t *testing.T) {
	t.Parallel()
	conn := store(t)
	r := rand.New(rand.NewPCG(30, 2))
	events := randomEvents(r, 400)
	from := time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)
	const days = 6
	for i := range events { // events in sessions of half a day; some sessions cross midnight
		e := &events[i]
		session := r.Int64N(100)
		e.Visitor, e.Session = uint64(1+session%7), uint64(1+session)
		e.TimeMillis = from.Add(time.Duration(session)*days*24*time.Hour/100).
			UnixMilli() +
			r.Int64N(
				insights.SessionReach.Milliseconds(),
			)
		if r.IntN(2) == 0 {
			e.Type = code(insights.EventTypes, "page_view")
		}
	}
	insert(t, conn, testSite, events)
	service := newService(conn)
	metrics := []string{"sessionsCount", "bounceRate", "pagesPerSession", "sessionDuration", "eventsCount"}
	selected := ""
	for _, name := range metrics {
		selected += `,{"column":"` + name + `"}`
	}
	for _, zone := range []string{"UTC", "Asia/Kathmandu"} {
		for _, by := range []string{"visitorDevice", "entryPage", "exitPage"} {
			where := `"timezone":"` + zone +
				`","where":[{"column":"visitorOS","operator":"notIn","values":["windows"]}],`
			ask := func(from, to time.Time, groups string) (columns [][]any) {
				span := `{"from":"` + from.Format(time.RFC3339) + `","to":"` + to.Format(time.RFC3339) + `"}`
				request := `{"range":` + span + `,` + where + `"select":[` + groups + `{"column":"` + by + `"}` +
					selected + `]}`
				body, _, err := service.Aggregate(t.Context(), Caller{}, testSite, []byte(request), testNow)
				var answer struct{ Columns []struct{ Values []any } }
				if err != nil || json.Unmarshal(body, &answer) != nil {
					t.Fatalf("%s: %s, %v", request, body, err)
				}
				for _, c := range answer.Columns {
					columns = append(columns, c.Values)
				}
				return columns
			}
			in, err := time.LoadLocation(zone)
			if err != nil {
				t.Fatal(err)
			}
			first := time.Date(2026, 3, 2, 0, 0, 0, 0, in)
			rows := func(columns [][]any) map[string]bool {
				all := map[string]bool{}
				for i := range columns[0] {
					row := ""
					for _, values := range columns {
						row += fmt.Sprint(values[i], " ")
					}
					all[row] = true
				}
				return all
			}
			const byDay = `{"column":"datetime","interval":"day"},`
			chart, alone := rows(ask(first, daysBefore(-days)(first), byDay)), map[string]bool{}
			for d := range days {
				day := ask(daysBefore(-d)(first), daysBefore(-d-1)(first), byDay)
				maps.Copy(alone, rows(day))
			}
			if !maps.Equal(chart, alone) || len(chart) < days {
				t.Errorf("%s by %s: the chart has %v, the days %v", zone, by, chart, alone)
			}
		}
	}
}

// equalColumns compares the columns' values of two answers.
func equalColumns(t *testing.T, got []byte, want string) bool {
	t.Helper()
	values := func(b []byte) string {
		var answer struct {
			Columns []struct{ Values json.RawMessage }
		}
		if err := json.Unmarshal(b, &answer); err != nil {
			t.Fatalf("%s: %v", b, err)
		}
		all, err := json.Marshal(answer)
		if err != nil {
			t.Fatal(err)
		}
		return string(all)
	}
	return values(got) == values([]byte(want))
}

// TestQuietEvents checks that page_leave, code_copy and file_download events change no number of sessions and no
// session's pages. Such events are within sessions, before and after them, at the ends of the range, and in sessions
// without other events.
func TestQuietEvents(t *testing.T) {
	t.Parallel()
	conn := store(t)
	r := rand.New(rand.NewPCG(11, 3))
	kinds := []string{"page_view", "page_view", "link_click", "search_type_query"}
	var without, with []insights.Event
	for i := range 150 {
		e := fixture()[0]
		e.Type = code(insights.EventTypes, kinds[r.IntN(len(kinds))])
		e.TimeMillis = testNow.UnixMilli() - r.Int64N(3*24*3_600_000)
		e.Visitor, e.Session, e.Page = 1+r.Uint64N(5), 1+r.Uint64N(8), fmt.Sprint("p", r.IntN(3))
		without = append(without, e)
		with = append(with, e)
		for _, kind := range []string{"page_leave", "code_copy", "file_download"}[r.IntN(4):] {
			quiet := e
			quiet.Type, quiet.Page = code(insights.EventTypes, kind), fmt.Sprint("p", r.IntN(3))
			quiet.TimeMillis += r.Int64N(16*3_600_000) - 8*3_600_000
			if i%3 == 0 { // a session that has only events of these types
				quiet.Session = 100 + uint64(i)
			}
			with = append(with, quiet)
		}
	}
	insert(t, conn, "without", without)
	insert(t, conn, "with", with)
	raw, visits := newService(conn), newService(conn)
	visits.sources.limits = sourceLimits{many: math.MaxUint64}
	const metrics = `{"column":"sessionsCount"},{"column":"bounceRate"},{"column":"pagesPerSession"}`
	for name, s := range map[string]*Service{"raw": raw, "visits": visits} {
		for _, request := range []string{
			`{"range":"last7Days","select":[` + metrics + `]}`,
			`{"range":"last7Days","select":[{"column":"sessionsCount"}]}`,
			`{"range":"last24Hours","select":[` + metrics + `]}`,
			`{"range":"last7Days","groupBy":[{"column":"datetime","interval":"day"}],"select":[` + metrics + `],"fill":true}`,
			`{"range":"last7Days","groupBy":[{"column":"datetime","interval":"hour"}],"select":[` + metrics + `],"fill":true}`,
			`{"range":"last7Days","groupBy":[{"column":"page"}],"select":[` + metrics + `],"order":{"by":{"column":"page"}}}`,
			`{"range":"last7Days","groupBy":[{"column":"entryPage"},{"column":"exitPage"}],"select":[` + metrics + `],` +
				`"where":[{"column":"sessionsCount","operator":"greaterThan","values":[0]}]}`,
		} {
			answer := func(site string) string {
				body, _, err := s.Aggregate(t.Context(), Caller{}, site, []byte(request), testNow)
				if err != nil {
					t.Fatalf("%s: %v", request, err)
				}
				return string(body)
			}
			if want, got := answer("without"), answer("with"); got != want {
				t.Errorf("%s: %s\nwithout quiet events: %s\nwith them: %s", name, request, want, got)
			}
		}
	}
	// The duration runs to the last event of any type.
	duration := `{"range":"last7Days","select":[{"column":"sessionDuration"}]}`
	body, _, err := raw.Aggregate(t.Context(), Caller{}, "with", []byte(duration), testNow)
	shorter, _, _ := raw.Aggregate(t.Context(), Caller{}, "without", []byte(duration), testNow)
	if err != nil || string(body) == string(shorter) {
		t.Errorf("durations %s and %s, %v", body, shorter, err)
	}
	// A query for only such events has no sessions.
	body, _, err = raw.Aggregate(t.Context(), Caller{}, "with", []byte(
		`{"range":"last7Days","where":[{"column":"eventType","values":["page_leave"]}],"select":[`+metrics+`,{"column":"sessionDuration"}]}`), testNow)
	const none = `{"columns":[{"values":[0]},{"values":[null]},{"values":[null]},{"values":[null]}]}`
	if err != nil || !equalColumns(t, body, none) {
		t.Errorf("of page_leave events only: %s, %v", body, err)
	}
}
