package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// ask sends a query and returns the whole response.
func (i *instance) ask(body string) (status int, header http.Header, answer []byte) {
	i.t.Helper()
	req, err := http.NewRequestWithContext(i.t.Context(), http.MethodPost, i.url+i.insights()+"/events/aggregate", strings.NewReader(body))
	if err != nil {
		i.t.Fatal(err)
	}
	req.Header = http.Header{"Authorization": {"Bearer " + i.token}, "Content-Type": {"application/json"}}
	res, err := testClient.Do(req)
	if err != nil {
		i.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	if answer, err = io.ReadAll(res.Body); err != nil {
		i.t.Fatal(err)
	}
	return res.StatusCode, res.Header, answer
}

// TestFreshUntil checks that an answer whose Octavo-Fresh-Until is later than an event's acknowledgement includes that
// event. The header must advance even without new events.
func TestFreshUntil(t *testing.T) {
	t.Parallel()
	i := newAttached(t)
	for n := 1; n <= 5; n++ {
		if status, answer := i.post(i.token, pageView(fmt.Sprint(n))); status != 204 {
			t.Fatalf("%d %s", status, answer)
		}
		acknowledged := time.Now()
		i.until("an answer that is fresh enough", func() error {
			status, header, answer := i.ask(`{"range":"last24Hours","select":[{"column":"eventsCount"}]}`)
			until, err := time.Parse(time.RFC3339, header.Get("Octavo-Fresh-Until"))
			if err != nil || until.Before(acknowledged) {
				return fmt.Errorf("%d %s: fresh until %v, %w", status, answer, until, err)
			}
			if want := fmt.Sprintf(`"values":[%d]`, n); !strings.Contains(string(answer), want) {
				t.Errorf("fresh until %v, and the event acknowledged at %v is not counted: %s", until, acknowledged, answer)
			}
			return nil
		})
	}
}

// TestClaimsKeepTheirTypes checks that queries return claims exactly as they were sent, after the claims have passed
// through the intake, the log and the store.
func TestClaimsKeepTheirTypes(t *testing.T) {
	t.Parallel()
	i := newAttached(t)
	claims := `{"a":{"b":2},"a.b":1,"beta":true,"deep":{"n":-1.50,"tags":["x",{"y":null}]},"https://x.example/roles":["admin","dev"],"plan":"pro"}`
	event := fmt.Sprintf(`{"type":"page_view","session":{"visitorId":"v","sessionId":"s","visitorAuthClaims":%s},"location":{"url":"https://d.example/"}}`, claims)
	if status, answer := i.post(i.token, event, pageView("w")); status != 204 {
		t.Fatalf("%d %s", status, answer)
	}
	i.wantCounts(2, 2)
	_, answer := i.request("GET", i.insights()+"/visitor-segments?limit=10", i.token, nil)
	var list struct {
		Items []struct{ Claims json.RawMessage }
		Count int
	}
	if err := json.Unmarshal(answer, &list); err != nil || list.Count != 2 || len(list.Items) != 2 ||
		string(list.Items[0].Claims) != claims && string(list.Items[1].Claims) != claims {
		t.Errorf("%s, want %s", answer, claims)
	}
	for filter, want := range map[string]int{
		`{"column":"visitorClaim","claim":"https://x.example/roles","values":["dev"]}`:                    1,
		`{"column":"visitorClaim","claim":"https://x.example/roles","values":["dev"],"operator":"notIn"}`: 1,
		`{"column":"visitorClaim","claim":"https://x.example/roles","values":["[\"admin\""]}`:             0,
		`{"column":"visitorClaim","claim":"a.b","values":["2"]}`:                                          1,
		`{"column":"visitorClaim","claim":"a\\.b","values":["1"]}`:                                        1,
		`{"column":"visitorClaimProperty","values":["\\types"]}`:                                          0,
	} {
		got, err := i.aggregate(`{"range":"last24Hours","select":[{"column":"eventsCount"}],"where":[` + filter + `]}`)
		if err != nil || fmt.Sprint(got["eventsCount"]) != fmt.Sprintf("[%d]", want) {
			t.Errorf("%s: %v, %v, want %d", filter, got, err, want)
		}
	}
	got, err := i.aggregate(`{"range":"last24Hours","groupBy":[{"column":"visitorClaimProperty"}],"order":{"by":{"column":"visitorClaimProperty"},"direction":"asc"}}`)
	if err != nil || fmt.Sprint(got["visitorClaimProperty"]) != `[a.b a\.b beta deep.n deep.tags https://x.example/roles plan]` {
		t.Errorf("%v, %v", got, err)
	}
	if status, _, answer := i.ask(`{"range":"last24Hours","select":[{"column":"visitorClaim","claim":"\\types"}]}`); status != 400 {
		t.Errorf("the reserved claim: %d %s", status, answer)
	}
}

// TestSlowQuestionIsA400 checks that a query that exceeds its time limit gets a 400 with advice. The answer must have
// no Retry-After, because a dashboard would then repeat the query.
func TestSlowQuestionIsA400(t *testing.T) {
	t.Parallel()
	i := newAttached(t, "OCTAVO_QUERY_MAX_TIME=5ms")
	// The rows take more than 5 ms on every machine.
	err := i.clickHouse().Exec(t.Context(), `INSERT INTO events (site, time, type, url, visitor, session)
		SELECT '`+i.site+`', now64(3) - toIntervalSecond(1 + number % 100000), 'page_view', concat('https://docs.example.com/', toString(number)),
		sipHash64(number, 1), sipHash64(number, 2) FROM numbers(300000)`)
	if err != nil {
		t.Fatal(err)
	}
	body := `{"range":"last30Days","groupBy":[{"column":"url"}],"select":[{"column":"visitorsCount"},{"column":"sessionsCount"}]}`
	status, header, answer := i.ask(body)
	if status != http.StatusBadRequest || header.Get("Retry-After") != "" {
		t.Errorf("%d, Retry-After %q", status, header.Get("Retry-After"))
	}
	if !strings.Contains(string(answer), "narrow the range") {
		t.Errorf("%s", answer)
	}
	metrics := i.metrics()
	for _, want := range []string{
		`octavo_query_errors_total{class="too_heavy",kind="aggregate"} 1`, `octavo_query_errors_total{class="canceled",kind="aggregate"} 0`,
	} {
		if !strings.Contains(metrics, want+"\n") {
			t.Errorf("the metrics have no %s", want)
		}
	}
}
