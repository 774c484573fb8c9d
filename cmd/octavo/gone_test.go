package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// TestClientGone checks that the engine ends the statement of a query when the client disconnects.
func TestClientGone(t *testing.T) {
	if testing.Short() {
		t.Skip("runs only in the long form: CI runs make test-long")
	}
	t.Parallel()
	i := newAttached(t)
	conn := i.clickHouse()
	// The rows are enough for seconds of work on any machine.
	err := conn.Exec(t.Context(), `INSERT INTO events (site, time, type, url, visitor, session)
		SELECT '`+i.site+`', now64(3) - toIntervalSecond(1 + number % 100000), 'page_view', concat('https://docs.example.com/', toString(number)),
		sipHash64(number, 1), sipHash64(number, 2) FROM numbers(3000000)`)
	if err != nil {
		t.Fatal(err)
	}
	running := func(want bool) func() error {
		return func() error {
			var n uint64
			err := conn.QueryRow(t.Context(), `SELECT count() FROM system.processes
				WHERE query LIKE '%uniqExact(visitor)%' AND query NOT LIKE '%processes%'
				AND current_database = currentDatabase()`).Scan(&n)
			if err == nil && (n > 0) != want {
				err = fmt.Errorf("%d run", n)
			}
			return err
		}
	}
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	body := `{"range":"last30Days","groupBy":[{"column":"url"}],"select":[{"column":"visitorsCount"},{"column":"sessionsCount"}]}`
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, i.url+i.insights()+"/events/aggregate", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header = http.Header{"Authorization": {"Bearer " + i.token}, "Content-Type": {"application/json"}}
	left := make(chan error, 1)
	go func() {
		res, err := testClient.Do(req)
		if err == nil {
			_ = res.Body.Close()
		}
		left <- err
	}()
	i.until("the query in the engine", running(true))
	leave()
	if err := <-left; err == nil {
		t.Error("the client got an answer")
	}
	i.until("the end of the query", running(false))
	i.until("the metrics", func() error {
		for _, want := range []string{`octavo_query_errors_total{class="canceled",kind="aggregate"} 1`, `octavo_query_running 0`} {
			if !strings.Contains(i.metrics(), want+"\n") {
				return fmt.Errorf("no %s", want)
			}
		}
		return nil
	})
}
