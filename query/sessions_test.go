package query

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/insights"
)

// sharedSession are page views of two visitors under one session id.
func sharedSession() []insights.Event {
	list := make([]insights.Event, 3)
	for i := range list {
		list[i] = fixture()[0]
		list[i].TimeMillis, list[i].Visitor, list[i].Session = testNow.UnixMilli()-int64(3-i)*3_600_000, uint64(1+i/2), 7
	}
	return list
}

// TestSessionsAreOfOneVisitor: each answer has the same sessions, whatever it is read from.
func TestSessionsAreOfOneVisitor(t *testing.T) {
	t.Parallel()
	conn := store(t)
	insert(t, conn, testSite, sharedSession())
	raw, visits := newService(conn), newService(conn)
	visits.sources.limits = sourceLimits{many: math.MaxUint64}
	for name, s := range map[string]*Service{"raw": raw, "visits": visits} {
		body, headers, err := s.Aggregate(t.Context(), Asker{}, testSite, []byte(`{"range":"last7Days","select":[{"column":"sessionsCount"},{"column":"visitorsCount"}]}`), testNow)
		if want := `{"columns":[{"values":[2]},{"values":[2]}]}`; err != nil || headers[headerSource] != name || !equalColumns(t, body, want) {
			t.Errorf("%s of %s: %s, %v", name, headers[headerSource], body, err)
		}
	}
	body, _, err := raw.Aggregate(t.Context(), Asker{}, testSite, []byte(`{"range":"last7Days","select":[{"column":"sessionsCount"},{"column":"pagesPerSession"},{"column":"bounceRate"}]}`), testNow)
	if want := `{"columns":[{"values":[2]},{"values":[1.5]},{"values":[0.5]}]}`; err != nil || !equalColumns(t, body, want) {
		t.Errorf("with columns of sessions: %s, %v", body, err)
	}
	body, _, err = raw.VisitorSegments(t.Context(), Asker{}, testSite, schema.PageRequest{}, testNow)
	var segments struct{ Items []Segment }
	if err != nil || json.Unmarshal(body, &segments) != nil || len(segments.Items) != 1 || segments.Items[0].Sessions != 2 {
		t.Errorf("segments: %s, %v", body, err)
	}
}

// TestEventsOfOneMoment: events of one moment are in the order in which they were sent, also
// in another message.
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
	body, _, err := service.Aggregate(t.Context(), Asker{}, testSite, []byte(`{"range":"last24Hours","select":[{"column":"entryPage"},{"column":"exitPage"}]}`), testNow)
	if want := `{"columns":[{"values":[{"page":"p2","space":"sp1"}]},{"values":[{"page":"p1","space":"sp1"}]}]}`; err != nil || !equalColumns(t, body, want) {
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
		{`{},{},{},{}`, `,"strictIncrease":false`, 0}, // no event is two steps
	} {
		body, _, err := service.Answer(t.Context(), Asker{}, Funnel, testSite, []byte(`{"range":"last24Hours","window":1,"steps":[`+c.steps+`]`+c.strict+`}`), testNow)
		var answer struct{ Steps []struct{ Count uint64 } }
		if err != nil || json.Unmarshal(body, &answer) != nil || answer.Steps[len(answer.Steps)-1].Count != c.last {
			t.Errorf("%s%s: %s, %v", c.steps, c.strict, body, err)
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
