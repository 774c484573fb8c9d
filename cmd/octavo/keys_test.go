package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/segmentio/kafka-go"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest"
	"github.com/octavo-docs/octavo/cmd/engine/enginetest/eventually"
	"github.com/octavo-docs/octavo/ingest/balance"
	"github.com/octavo-docs/octavo/ingest/eventlog"
	"github.com/octavo-docs/octavo/ingest/intake"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/insights"
	"github.com/octavo-docs/octavo/store/sites"
	"github.com/octavo-docs/octavo/store/storetest"
)

// errKilled is the error that every part of a killed node returns. The node's client gets no response.
var errKilled = errors.New("the node was killed")

// mortalKeys are the store's keys on a node that a test can kill. After the node has been killed, their methods fail.
type mortalKeys struct {
	*sites.Store
	stop   func()
	killed bool
	finish error // if set, FinishEventKey returns it
}

func (m *mortalKeys) FinishEventKey(ctx context.Context, site, key string, c schema.KeyClaim) error {
	if m.killed || m.finish != nil {
		return errors.Join(errKilled, m.finish)
	}
	return m.Store.FinishEventKey(ctx, site, key, c)
}

func (m *mortalKeys) ReleaseEventKey(ctx context.Context, site, key string, c schema.KeyClaim) error {
	if m.killed {
		return errKilled
	}
	return m.Store.ReleaseEventKey(ctx, site, key, c)
}

// mortalLog is a log whose node is killed just before or just after an append.
type mortalLog struct {
	*eventlog.Log
	keys          *mortalKeys
	before, after bool
	refuse        error

	mu       sync.Mutex
	messages [][]byte // appended messages, in their order
}

func (m *mortalLog) Append(ctx context.Context, site string, partition int, message []byte) error {
	return m.append(ctx, m.Log.Append, site, partition, message)
}

func (m *mortalLog) AppendAgain(ctx context.Context, site string, partition int, message []byte) error {
	return m.append(ctx, m.Log.AppendAgain, site, partition, message)
}

func (m *mortalLog) append(ctx context.Context, how func(context.Context, string, int, []byte) error, site string, partition int, message []byte) error {
	if m.refuse != nil {
		return m.refuse
	}
	if m.before {
		m.keys.killed = true
		return errKilled
	}
	err := how(ctx, site, partition, message)
	m.mu.Lock()
	m.messages = append(m.messages, bytes.Clone(message))
	m.mu.Unlock()
	if m.after {
		m.keys.killed = true
		return errKilled
	}
	return err
}

// keyBench has a database and a topic that several nodes share.
type keyBench struct {
	t       *testing.T
	url     string
	brokers []string
	topic   string
}

// keyNode has the parts of a node that accept events.
type keyNode struct {
	*intake.Intake
	*balance.Sites
	keys *mortalKeys
	log  *mortalLog
}

func newKeyBench(t *testing.T) *keyBench {
	t.Helper()
	return &keyBench{t: t, url: storetest.URL(t), brokers: enginetest.Kafka(t), topic: enginetest.Topic(t, 3)}
}

func (b *keyBench) node(change func(*intake.Config)) *keyNode {
	b.t.Helper()
	registry := prometheus.NewRegistry()
	log, err := eventlog.New(eventlog.Config{Brokers: b.brokers, Topic: b.topic}, eventlog.NewMetrics(registry))
	if err != nil {
		b.t.Fatal(err)
	}
	if err := log.Start(b.t.Context()); err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { _ = log.Stop(context.Background()) }) // stop it before its topic is deleted
	st := storetest.Open(b.t, b.url)
	n := &keyNode{Sites: balance.NewSites(registry), keys: &mortalKeys{Store: st.Sites, stop: st.Stop}}
	n.log = &mortalLog{Log: log, keys: n.keys}
	cfg := intake.Config{
		Log: n.log, Balances: n.Sites, Keys: n.keys, HashKey: [16]byte{1}, KeyWait: eventually.Patience,
	}
	if change != nil {
		change(&cfg)
	}
	if n.Intake, err = intake.New(cfg, intake.NewMetrics(registry)); err != nil {
		b.t.Fatal(err)
	}
	return n
}

// finished waits until the node has finished the keys of acknowledged requests.
func (n *keyNode) finished(t *testing.T) {
	t.Helper()
	if err := n.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// post sends one event of a visitor under a key and returns the status.
func (n *keyNode) post(t *testing.T, site, key, visitor string) int {
	t.Helper()
	body := []byte(`{"events":[` + pageView(visitor) + `]}`)
	_, err := eventIntake{n.Intake}.Accept(t.Context(), schema.EventSite{SiteID: site}, body,
		schema.ClientInfo{IP: netip.MustParseAddr("198.51.100.9"), Now: time.Now(), IdempotencyKey: key})
	if err == nil {
		return 204
	}
	e := schema.AsError(err)
	if temporary := e.Code == 409 || e.Code == 503; temporary != (e.RetryAfter > 0) {
		t.Errorf("%v has Retry-After %s", e, e.RetryAfter)
	}
	if e.Code == 422 && (len(e.Details) != 1 || e.Details[0].Field != "Idempotency-Key") {
		t.Errorf("details %+v", e.Details)
	}
	return int(e.Code)
}

func (n *keyNode) want(t *testing.T, status int, site, key, visitor string) {
	t.Helper()
	if got := n.post(t, site, key, visitor); got != status {
		t.Errorf("%s %q of %s: %d, want %d", site, key, visitor, got, status)
	}
}

// exec runs a statement on the keys table, to simulate the passing of time.
func (b *keyBench) exec(sql string) {
	b.t.Helper()
	conn, err := pgx.Connect(b.t.Context(), b.url)
	if err != nil {
		b.t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	if _, err := conn.Exec(b.t.Context(), sql); err != nil {
		b.t.Fatal(err)
	}
}

// messages returns the ids of all messages in the log.
func (b *keyBench) messages() []insights.MessageID {
	b.t.Helper()
	client := &kafka.Client{Addr: kafka.TCP(b.brokers...), Timeout: eventually.Patience}
	var ids []insights.MessageID
	at := map[insights.MessageID]int{}
	for partition := range 3 {
		offset := int64(0)
		for {
			res, err := client.Fetch(b.t.Context(), &kafka.FetchRequest{Topic: b.topic, Partition: partition, Offset: offset, MinBytes: 1, MaxBytes: 1 << 20, MaxWait: time.Millisecond})
			if err = errors.Join(err, res.Error); err != nil {
				b.t.Fatal(err)
			}
			for {
				r, err := res.Records.ReadRecord()
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil {
					b.t.Fatal(err)
				}
				value, _ := io.ReadAll(r.Value)
				m, err := insights.ParseMessage(value)
				if err != nil {
					b.t.Fatal(err)
				}
				if was, ok := at[m.ID]; ok && was != partition { // sinks dedupe within one partition
					b.t.Errorf("message %x is in the partitions %d and %d", m.ID, was, partition)
				}
				at[m.ID] = partition
				ids = append(ids, m.ID)
				offset = r.Offset + 1
			}
			if offset >= res.HighWatermark {
				break
			}
		}
	}
	return ids
}

func (b *keyBench) wantMessages(count, distinct int) {
	b.t.Helper()
	ids := b.messages()
	seen := map[insights.MessageID]bool{}
	for _, id := range ids {
		seen[id] = true
	}
	if len(ids) != count || len(seen) != distinct {
		b.t.Errorf("%d messages with %d ids are in the log, want %d with %d", len(ids), len(seen), count, distinct)
	}
}

// TestKeyOnTwoNodes checks that a key is valid on every node for a day, and that it stands for one body of one site.
func TestKeyOnTwoNodes(t *testing.T) {
	t.Parallel()
	b := newKeyBench(t)
	one, two := b.node(nil), b.node(nil)
	for range 2 {
		one.want(t, 204, "site_a", "k", "v")
		two.want(t, 204, "site_a", "k", "v")
	}
	b.wantMessages(1, 1)
	two.want(t, 422, "site_a", "k", "w")
	two.want(t, 204, "site_b", "k", "w")
	one.want(t, 204, "site_a", "K", "w")
	b.wantMessages(3, 3)
	if got := one.Balance("site_a"); got.Received != 3 || got.Accepted != 2 || got.Repeated != 1 || got.Unanswered() != 0 {
		t.Errorf("balance %+v", got)
	}
	if got := two.Balance("site_a"); got.Received != 3 || got.Repeated != 2 || got.Refused["key_reused"] != 1 {
		t.Errorf("balance %+v", got)
	}

	// After a day the key can be used again, whether its row has been deleted or not. The answering nodes did not see
	// the key before, because a node caches a key for a day of its own clock (TestRecentKeys).
	b.exec("update event_keys set created_at = now() - interval '23 hours 59 minutes' where site_id = 'site_a'")
	b.node(nil).want(t, 422, "site_a", "k", "w")
	b.exec("update event_keys set created_at = now() - interval '24 hours' where site_id = 'site_a' and key = 'k'")
	one, two = b.node(nil), b.node(nil)
	one.want(t, 204, "site_a", "k", "w")
	two.want(t, 204, "site_a", "k", "w")
	b.wantMessages(4, 4)
	b.exec("update event_keys set created_at = now() - interval '24 hours' where site_id = 'site_a'")
	one = b.node(nil)
	if more, err := one.keys.DeleteOldEventKeys(t.Context()); err != nil || more {
		t.Errorf("more %v, %v", more, err)
	}
	b.exec("do $$ begin if (select count(*) from event_keys) <> 1 then raise 'not only the other site''s key is left'; end if; end $$")
	one.want(t, 204, "site_a", "k", "v")
	b.wantMessages(5, 5)
}

// TestKeyRace sends twenty requests with one key, half to each node. Only one request is appended, and all requests are
// acknowledged.
func TestKeyRace(t *testing.T) {
	t.Parallel()
	b := newKeyBench(t)
	nodes := []*keyNode{b.node(nil), b.node(nil)}
	var wait sync.WaitGroup
	for i := range 20 {
		wait.Go(func() { nodes[i%2].want(t, 204, "site_a", "race", "v") })
	}
	wait.Wait()
	b.wantMessages(1, 1)
}

// TestKeysTogether sends requests with many keys concurrently. Each node gets each request several times. The nodes
// claim the keys by shared statements. Each key's message is appended once, and all requests are acknowledged. A
// request with the key of another body is refused.
func TestKeysTogether(t *testing.T) {
	t.Parallel()
	b := newKeyBench(t)
	nodes := []*keyNode{b.node(nil), b.node(nil)}
	const keys = 60
	var wait sync.WaitGroup
	for i := range 6 * keys {
		key := fmt.Sprint("k", i%keys)
		wait.Go(func() { nodes[i/keys%2].want(t, 204, "site_a", key, "v"+key) })
	}
	wait.Wait()
	b.wantMessages(keys, keys)
	late := b.node(nil)
	for i := range keys {
		key := fmt.Sprint("k", i)
		wait.Go(func() { late.want(t, 204, "site_a", key, "v"+key) })
		wait.Go(func() { late.want(t, 422, "site_a", key, "w") })
	}
	wait.Wait()
	b.wantMessages(keys, keys)
	for _, n := range append(nodes, late) {
		n.finished(t)
	}
	const done = "do $$ begin if exists (select from event_keys where not done) then raise 'not done'; end if; end $$"
	b.exec(done)
}

// TestKeyRefusals checks that a refused request does not use up its key.
func TestKeyRefusals(t *testing.T) {
	t.Parallel()
	b := newKeyBench(t)
	n := b.node(nil)
	if err := n.Accept(t.Context(), intake.Site{ID: "site_a"}, []byte(`{"events":[{}]}`), intake.Client{Now: time.Now(), IdempotencyKey: "k"}); err == nil {
		t.Error("a bad event was taken")
	}
	// First the log refuses the message permanently, then its outcome is unknown, and then the log accepts it.
	n.log.refuse = &insights.Refusal{Reason: insights.TooLong, Message: "events: too long"}
	n.want(t, 400, "site_a", "k", "v")
	n.log.refuse = errors.New("no answer")
	n.want(t, 503, "site_a", "k", "w")
	n.want(t, 422, "site_a", "k", "v") // the log may have the message of w
	n.log.refuse = nil
	n.want(t, 204, "site_a", "k", "w")
	b.wantMessages(1, 1)
	// First Postgres does not answer when a node finishes a key. Then it answers no statement.
	n.finished(t)
	n.keys.finish = errors.New("away")
	n.want(t, 204, "site_a", "l", "v")
	b.wantMessages(2, 2)
	n.finished(t)
	n.keys.stop()
	n.want(t, 503, "site_a", "m", "v")
	n.want(t, 204, "site_a", "", "v") // without a key, Postgres is not needed
	b.wantMessages(3, 3)
}

// TestKeyOfKilledNode kills a node after it has claimed a key, and before it has finished the key. The next request
// with the key finds the message in the log, or appends it with the same id. Until the claim expires, the request gets
// an answer with Retry-After.
func TestKeyOfKilledNode(t *testing.T) {
	t.Parallel()
	for name, kill := range map[string]func(*mortalLog){
		"the message is not in the log": func(m *mortalLog) { m.before = true },
		"the message is in the log":     func(m *mortalLog) { m.after = true },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newKeyBench(t)
			dead := b.node(nil)
			hurried := b.node(func(c *intake.Config) { c.KeyWait = time.Nanosecond })
			dead.want(t, 204, "site_a", "before", "v")
			dead.finished(t)
			kill(dead.log)
			dead.post(t, "site_a", "k", "v")
			hurried.want(t, 204, "site_a", "after", "v")
			hurried.want(t, 409, "site_a", "k", "v")
			hurried.want(t, 422, "site_a", "k", "w")
			b.exec("update event_keys set leased_until = now() where key = 'k'")
			hurried.want(t, 422, "site_a", "k", "w")
			hurried.want(t, 204, "site_a", "k", "v")
			hurried.want(t, 204, "site_a", "k", "v")
			b.wantMessages(3, 3)
			hurried.finished(t)
			var stored [16]byte
			conn, err := pgx.Connect(t.Context(), b.url)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = conn.Close(context.Background()) }()
			var id []byte
			if err := conn.QueryRow(t.Context(), "select message_id from event_keys where key = 'k' and done").Scan(&id); err != nil {
				t.Fatal(err)
			}
			copy(stored[:], id)
			if !slices.Contains(b.messages(), stored) {
				t.Error("the log has no message with the key's id")
			}
		})
	}
}

// TestKeyLateAppend lets a claim expire while the append of its message still runs. The log then has the message twice,
// with one id and in one partition. So the sink stores the message once.
func TestKeyLateAppend(t *testing.T) {
	t.Parallel()
	b := newKeyBench(t)
	slow, next := b.node(nil), b.node(nil)
	gate := make(chan struct{})
	entered := make(chan struct{})
	gated, err := intake.New(intake.Config{
		Log: gatedLog{slow.log, entered, gate}, Balances: slow.Sites, Keys: slow.keys, HashKey: [16]byte{1},
	}, intake.NewMetrics(prometheus.NewRegistry()))
	if err != nil {
		t.Fatal(err)
	}
	slow.Intake = gated
	var wait sync.WaitGroup
	wait.Go(func() { slow.want(t, 204, "site_a", "k", "v") })
	<-entered
	b.exec("update event_keys set leased_until = now()")
	next.want(t, 204, "site_a", "k", "v")
	close(gate)
	wait.Wait()
	b.wantMessages(2, 1)
}

// gatedLog is a log whose append waits until the gate opens.
type gatedLog struct {
	*mortalLog
	entered, gate chan struct{}
}

func (g gatedLog) Append(ctx context.Context, site string, partition int, message []byte) error {
	close(g.entered)
	<-g.gate
	return g.mortalLog.Append(ctx, site, partition, message)
}

// TestKeyOverHTTP checks the header's format, and that the same body in another content encoding is treated as a
// repeat.
func TestKeyOverHTTP(t *testing.T) {
	t.Parallel()
	i := newAttached(t)
	body := `{"events":[` + pageView("v") + `]}`
	for _, c := range []struct {
		key, body, encoding string
		status              int
		text                string
	}{
		{"key 1~", body, "", 204, ""},
		{"key 1~", body, "", 204, ""},
		{"key 1~", body, "gzip", 204, ""},
		{"key 1~", strings.Replace(body, `"v"`, `"w"`, 1), "gzip", 422, "Idempotency-Key"},
		{strings.Repeat("k", 255), body, "gzip", 204, ""},
		{strings.Repeat("k", 256), body, "", 400, "Idempotency-Key"},
		{"ключ", body, "", 400, "Idempotency-Key"},
		{"\"a\tb\"", body, "", 400, "Idempotency-Key"},
		{" ", body, "", 400, "Idempotency-Key"},
	} {
		status, answer := i.postWithKey(c.key, c.body, c.encoding)
		if status != c.status || !strings.Contains(answer, c.text) {
			t.Errorf("%q: %d %s, want %d", c.key, status, answer, c.status)
		}
	}
	i.wantCounts(2, 1)
	i.stop()
	i.start()
	if status, answer := i.postWithKey("key 1~", body, ""); status != 204 {
		t.Errorf("after a restart: %d %s", status, answer)
	}
	i.wantCounts(2, 1)
	if metrics := i.metrics(); !strings.Contains(metrics, fmt.Sprintf("octavo_site_events_total{outcome=%q,site=%q} 1", "repeated", i.site)) {
		t.Error("the repeat is not in the site's balance")
	}
}
