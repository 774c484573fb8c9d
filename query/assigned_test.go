package query

import (
	"testing"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/insights"
)

// TestAssignedSessions checks which answers report that nodes assigned sessions. An answer reports this if it is about
// sessions, and if an event sent by a browser is in the range and meets the conditions.
func TestAssignedSessions(t *testing.T) {
	t.Parallel()
	conn := store(t)
	events := fixture()
	// the first event, in the last hour, comes from a browser
	events[0].Door, events[0].PublishableKey = code(insights.EventDoors, "key"), "k1.1"
	insert(t, conn, testSite, events)
	insert(t, conn, "site_2", fixture())
	service := newService(conn)
	const apiOnly = `"where":[{"column":"eventDoor","values":["api"]}]`
	for _, c := range []struct {
		of             Report
		body           string
		site2, whether bool
	}{
		{Aggregate, `{"range":"last24Hours","select":[{"column":"sessionsCount"}]}`, false, true},
		{Aggregate, `{"range":"last24Hours","select":[{"column":"sessionsCount"}]}`, true, false},
		{Aggregate, `{"range":"last24Hours","select":[{"column":"visitorsCount"}]}`, false, false},
		{Aggregate, `{"range":"last24Hours","groupBy":[{"column":"entryPage"}]}`, false, true},
		{Aggregate, `{"range":"last24Hours","select":[{"column":"bounceRate"}],` + apiOnly + `}`, false, false},
		{Aggregate, `{"range":"last24Hours","order":{"by":{"column":"pagesPerSession"},"direction":"asc"}}`,
			false, false},
		{Aggregate, `{"range":"last24Hours","order":{"by":{"column":"pagesPerSession"},"direction":"asc"},
			"groupBy":[{"column":"visitorGeoCountry"}]}`, false, true},
		{Aggregate, `{"range":"last24Hours",
			"where":[{"column":"sessionsCount","operator":"greaterThan","values":[0]}]}`,
			false, true},
		{Aggregate, `{"range":"last24Hours","where":[{"column":"exitPage","operator":"notIn","values":[null]}]}`,
			false, true},
		{Aggregate, `{"range":{"from":"2026-02-01","to":"2026-02-28"},"select":[{"column":"sessionDuration"}]}`,
			false, false},
		{Aggregate, `{"range":{"from":"2026-02-01","to":"2026-02-28"},"select":[{"column":"sessionDuration"}],
			"compare":{"from":"2026-03-15","to":"2026-03-15"}}`, false, true},
		{Funnel, `{"range":"last24Hours","steps":[{},{}]}`, false, false},
		{Funnel, `{"range":"last24Hours","steps":[{},{}],"by":"session"}`, false, true},
		{Funnel, `{"range":"last24Hours","steps":[{},{}],"by":"session"}`, true, false},
		{Funnel, `{"range":"last24Hours","steps":[{},{"where":[{"column":"entryPage","values":[null]}]}]}`,
			false, true},
		{Retention, `{"range":"last24Hours"}`, false, false},
		{Retention, `{"range":"last24Hours","return":{"where":[{"column":"exitPage","values":[null]}]}}`, false, true},
		{Transitions, `{"range":"last24Hours","page":{"path":"/guide"}}`, false, true},
		{Transitions, `{"range":"last24Hours","page":{"path":"/guide"}}`, true, false},
		{Pages, `{"range":"last24Hours"}`, false, false},
		{Pages, `{"range":"last24Hours","select":[{"column":"sessionsCount"}]}`, false, true},
		{Pages, `{"range":"last24Hours","select":[{"column":"sessionsCount"}],` + apiOnly + `}`, false, false},
	} {
		site := testSite
		if c.site2 {
			site = "site_2"
		}
		_, headers, err := service.Answer(t.Context(), Caller{}, c.of, site, []byte(c.body), testNow)
		if want := map[bool]string{true: "approximate"}[c.whether]; err != nil || headers[headerSessions] != want {
			t.Errorf("%s %s on %s: %v, %v, want sessions %q", c.of, c.body, site, err, headers, want)
		}
	}
	for site, want := range map[string]string{testSite: "approximate", "site_2": ""} {
		_, headers, err := service.VisitorSegments(t.Context(), Caller{}, site, schema.PageRequest{}, testNow)
		if err != nil || headers[headerSessions] != want {
			t.Errorf("segments of %s: %v, %v, want sessions %q", site, err, headers, want)
		}
	}
}
