package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest"
	"github.com/octavo-docs/octavo/cmd/engine/enginetest/brokertest"
)

// failing reads /readyz, and returns the names of the checks that fail.
func (i *instance) failing() (status int, names string, err error) {
	status, body := i.request("GET", "/readyz", "", nil)
	var answer struct{ Checks map[string]string }
	if err := json.Unmarshal(body, &answer); err != nil {
		return status, "", fmt.Errorf("%d %s: %w", status, body, err)
	}
	var list []string
	for name, state := range answer.Checks {
		if state != "ok" {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return status, strings.Join(list, " "), nil
}

// wantUnavailable posts an event and expects the contract's 503 with Retry-After. If `key` is not "", the request has
// this Idempotency-Key.
func (i *instance) wantUnavailable(key string) {
	i.t.Helper()
	req, err := http.NewRequestWithContext(i.t.Context(), http.MethodPost, i.url+i.insights()+"/events", strings.NewReader(`{"events":[`+pageView("v")+`]}`))
	if err != nil {
		i.t.Fatal(err)
	}
	req.Header = http.Header{"Authorization": {"Bearer " + i.token}, "Content-Type": {"application/json"}}
	if key != "" {
		req.Header.Set("Idempotency-Key", key)
	}
	res, err := testClient.Do(req)
	if err != nil {
		i.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		i.t.Fatal(err)
	}
	var answer struct {
		Error struct {
			Code    int
			Message string
		}
	}
	if err := json.Unmarshal(body, &answer); err != nil || res.StatusCode != http.StatusServiceUnavailable || answer.Error.Code != 503 || !strings.Contains(answer.Error.Message, "event log") {
		i.t.Errorf("post: %d %s", res.StatusCode, body)
	}
	if seconds, err := strconv.Atoi(res.Header.Get("Retry-After")); err != nil || seconds < 1 {
		i.t.Errorf("post: Retry-After is %q", res.Header.Get("Retry-After"))
	}
}

// TestStartWithoutKafka starts a node while Kafka is down. The node serves all operations except posting events,
// reports the failing check, and can be stopped. It accepts events as soon as Kafka answers again.
func TestStartWithoutKafka(t *testing.T) {
	t.Parallel()
	address := enginetest.Address(t)
	i := newIdle(t,
		"OCTAVO_POSTGRES_URL="+enginetest.Postgres(t), "OCTAVO_CLICKHOUSE_URL="+enginetest.ClickHouse(t),
		"OCTAVO_KAFKA_BROKERS="+address, "OCTAVO_ROLES=api,sink")
	i.startUnready()
	i.stop() // while the node waits for the engine
	i.startUnready()

	for _, path := range []string{"/v1/user", "/v1/orgs/" + i.org + "/sites/" + i.site} {
		if status, answer := i.request("GET", path, i.token, nil); status != 200 {
			t.Errorf("%s: %d %s", path, status, answer)
		}
	}
	if _, err := i.aggregate(`{"range":"last24Hours","select":[{"column":"eventsCount"}]}`); err != nil {
		t.Error(err)
	}
	i.wantUnavailable("")
	i.wantUnavailable("a key")
	if status, names, err := i.failing(); status != 503 || names != "kafka" || err != nil {
		t.Errorf("readyz: %d, failing %q, %v", status, names, err)
	}
	if metrics := i.metrics(); !strings.Contains(metrics, `octavo_intake_requests_refused_total{reason="log_unavailable"} 2`) {
		t.Error("no metric says that two requests were refused for the log")
	}
	if n := strings.Count(i.output.String(), "The event log is away"); n != 1 {
		t.Errorf("the log says %d times that Kafka is away:\n%s", n, i.output)
	}

	broker := brokertest.Start(t, brokertest.Options{Address: address})
	i.until("event taken", func() error {
		if status, answer := i.postWithKey("a key", `{"events":[`+pageView("v")+`]}`, ""); status != 204 {
			return fmt.Errorf("post: %d %s", status, answer)
		}
		return nil
	})
	if status, names, err := i.failing(); status != 200 || names != "" || err != nil {
		t.Errorf("readyz: %d, failing %q, %v", status, names, err)
	}
	i.wantCounts(1, 1)

	// The same check fails when Kafka goes down under a running node.
	broker.Stop()
	if status, names, err := i.failing(); status != 503 || names != "kafka" || err != nil {
		t.Errorf("readyz without Kafka again: %d, failing %q, %v", status, names, err)
	}
}

// TestStartWithoutClickHouse checks that a node that starts while ClickHouse is down accepts events and answers queries
// with 503. It must store the accepted events when ClickHouse answers.
func TestStartWithoutClickHouse(t *testing.T) {
	t.Parallel()
	there, err := url.Parse(enginetest.ClickHouse(t))
	if err != nil {
		t.Fatal(err)
	}
	away := *there
	away.Host = enginetest.Address(t)
	i := newIdle(t,
		"OCTAVO_POSTGRES_URL="+enginetest.Postgres(t), "OCTAVO_CLICKHOUSE_URL="+away.String(),
		"OCTAVO_KAFKA_BROKERS="+strings.Join(enginetest.Kafka(t), ","), "OCTAVO_KAFKA_TOPIC="+enginetest.Topic(t, 2))
	i.startUnready()
	i.stop() // while the node waits for the engine
	i.startUnready()
	if status, answer := i.post(i.token, pageView("v")); status != 204 {
		t.Errorf("post: %d %s", status, answer)
	}
	if status, answer := i.request("POST", i.insights()+"/events/aggregate", i.token, []byte(`{"range":"last24Hours","select":[{"column":"eventsCount"}]}`)); status != 503 {
		t.Errorf("aggregate: %d %s", status, answer)
	}
	if status, names, err := i.failing(); status != 503 || names != "clickhouse sink" || err != nil {
		t.Errorf("readyz: %d, failing %q, %v", status, names, err)
	}
	// A load balancer that only needs the intake can leave out the check.
	if status, answer := i.request("GET", "/readyz?exclude=clickhouse&exclude=sink", "", nil); status != 200 {
		t.Errorf("readyz without the insights store: %d %s", status, answer)
	}
	listener, err := net.Listen("tcp", away.Host)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go relay(listener, there.Host)
	i.until("ready", func() error {
		status, names, err := i.failing()
		if err == nil && status != 200 {
			err = fmt.Errorf("readyz: %d, failing %q", status, names)
		}
		return err
	})
	i.wantCounts(1, 1)
}
