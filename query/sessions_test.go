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

// equalColumns compares the columns' values of two answers.
func equalColumns(t *testing.T, got []byte, want string) bool {
	t.Helper()
	values := func(b []byte) string {
		var answer struct{ Columns []struct{ Values json.RawMessage } }
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
