package main

import (
	"net/http"
	"strings"
	"testing"
)

// A question that the engine does not answer in its time is the asker's to
// change: 400, which says how, and nothing that makes a dashboard send it again.
func TestSlowQuestionIsA400(t *testing.T) {
	t.Parallel()
	i := newInstance(t, "OCTAVO_QUERY_MAX_TIME=5ms")
	// Seconds of work, so that it is slow on every machine.
	err := i.clickHouse().Exec(t.Context(), `INSERT INTO events (site, time, type, url, visitor, session)
		SELECT '`+i.site+`', now64(3) - toIntervalSecond(1 + number % 100000), 'page_view', concat('https://docs.example.com/', toString(number)),
		sipHash64(number, 1), sipHash64(number, 2) FROM numbers(3000000)`)
	if err != nil {
		t.Fatal(err)
	}
	body := `{"range":"last30Days","groupBy":[{"column":"url"}],"select":[{"column":"visitorsCount"},{"column":"sessionsCount"}]}`
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, i.url+i.insights()+"/events/aggregate", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header = http.Header{"Authorization": {"Bearer " + i.token}, "Content-Type": {"application/json"}}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if res.StatusCode != 400 || res.Header.Get("Retry-After") != "" {
		t.Errorf("%d, Retry-After %q", res.StatusCode, res.Header.Get("Retry-After"))
	}
	status, answer := i.request("POST", i.insights()+"/events/aggregate", i.token, []byte(body))
	if status != 400 || !strings.Contains(string(answer), "narrow the range") {
		t.Errorf("%d %s", status, answer)
	}
	_, metrics := i.request("GET", "/metrics", "", nil)
	for _, want := range []string{
		`octavo_query_errors_total{class="too_heavy",kind="aggregate"} 2`, `octavo_query_errors_total{class="canceled",kind="aggregate"} 0`,
	} {
		if !strings.Contains(string(metrics), want+"\n") {
			t.Errorf("the metrics have no %s", want)
		}
	}
}
