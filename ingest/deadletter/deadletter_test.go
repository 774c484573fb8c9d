package deadletter

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest"
	"github.com/octavo-docs/octavo/cmd/engine/enginetest/brokertest"
	"github.com/octavo-docs/octavo/cmd/engine/enginetest/eventually"
	"github.com/octavo-docs/octavo/ingest/eventlog"
	"github.com/octavo-docs/octavo/ingest/ingesttest"
	"github.com/octavo-docs/octavo/ingest/intake/intaketest"
	"github.com/octavo-docs/octavo/schema/insights"
)

// open opens the dead letters of a new, empty log.
func open(t *testing.T) *Letters {
	t.Helper()
	d, err := Open(enginetest.Kafka(t), eventlog.Access{}, enginetest.Topic(t, 1))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	return d
}

// writeFirst calls `write`, which also creates the topic. Apache Kafka may refuse the letters until the new partition
// has a leader. So writeFirst retries, as the sink does.
func writeFirst(t *testing.T, write func(context.Context) error) {
	t.Helper()
	eventually.Succeeds(t, "the first letters", func() error { return write(t.Context()) })
}

// list reads the letters that have not been replayed.
func list(t *testing.T, d *Letters) (letters []*Letter) {
	t.Helper()
	err := d.Each(t.Context(), false, func(letter *Letter, _ bool) error {
		letters = append(letters, letter)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return letters
}

// TestReplayInterrupted interrupts a replay after each step. The next replay must finish it, and the log must have the
// event once.
func TestReplayInterrupted(t *testing.T) {
	t.Parallel()
	d := open(t)
	body := []byte(ingesttest.Events(ingesttest.Event("page_view", "")))
	states := []string{"not begun", "noted", "appended", "marked"}
	var letters []Letter
	for i, message := range intaketest.Messages(t, body, body, body, body) {
		letters = append(letters, Letter{Topic: d.log.Name, Offset: int64(i), Site: "site_1", Reason: "value", Error: "refused", Message: message, Sum: states[i]})
	}
	writeFirst(t, func(ctx context.Context) error { return d.writer.Write(ctx, letters) })
	for i, state := range states {
		t.Run(state, func(t *testing.T) {
			letter, id := &letters[i], replayID(&letters[i])
			if i >= slices.Index(states, "noted") {
				at, err := d.place(t.Context(), letter)
				if err == nil {
					err = d.note(t.Context(), letter, value{Replaying: at})
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			if i >= slices.Index(states, "appended") {
				message, err := insights.WithID(letter.Message, id)
				if err == nil {
					err = d.append(t.Context(), 0, letter.Site, message)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			if state == "marked" {
				if err := d.writer.produce(t.Context(), []record{{letter.Key(), nil}}); err != nil {
					t.Fatal(err)
				}
			} else if err := d.Replay(t.Context(), letter); err != nil {
				t.Fatal(err)
			}
			if err := d.Replay(t.Context(), letter); !errors.Is(err, ErrReplayed) {
				t.Errorf("the second replay: %v", err)
			}
			_, end, err := d.log.Offsets(t.Context(), 0)
			if err != nil {
				t.Fatal(err)
			}
			n := 0
			err = d.log.Scan(t.Context(), 0, 0, end, func(r eventlog.Record) error {
				if got, ok := insights.MessageIDOf(r.Value); ok && got == id {
					n++
				}
				return nil
			})
			if err != nil || n != 1 {
				t.Errorf("the event is in the log %d times, %v", n, err)
			}
		})
	}
	if left := list(t, d); len(left) != 0 {
		t.Errorf("%d letters are left", len(left))
	}
}

// TestInvalidUTF8 checks that a letter may contain bytes that are not UTF-8. The end of a cut error text can be such
// bytes.
func TestInvalidUTF8(t *testing.T) {
	t.Parallel()
	d := open(t)
	text := ErrorText(errors.New(strings.Repeat("a", maxError-1) + "é"))
	letter := Letter{Site: "site_\xff", Reason: "value", Error: text, Message: []byte{0xff, 0}, Sum: "1"}
	writeFirst(t, func(ctx context.Context) error { return d.writer.Write(ctx, []Letter{letter}) })
	letters := list(t, d)
	if len(letters) != 1 {
		t.Fatalf("%d letters, want 1", len(letters))
	}
	if l := letters[0]; l.Site != "site_\ufffd" || !strings.HasSuffix(l.Error, "a\ufffd…") || string(l.Message) != "\xff\x00" {
		t.Errorf("%+v", l)
	}
}

// TestAnotherBaseline checks that every operation refuses dead letters of another baseline, and leaves the topic
// unchanged.
func TestAnotherBaseline(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"before baselines": `{"letter":{"topic":"octavo-events","partition":3,"offset":7,"index":-1,` +
			`"received":"2026-11-20T10:00:00Z","reason":"unreadable","error":"bad","message":"anVuaw==","sum":"0123"}}`,
		"a later baseline": `{"baseline":1000,"replaying":{"partition":0,"from":7}}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := open(t)
			writeFirst(t, func(ctx context.Context) error {
				return d.writer.produce(ctx, []record{{"3/7/-1/0123", nil}, {"3/7/-1/0123", []byte(text)}})
			})
			refused := func(what string, err error) {
				t.Helper()
				if !errors.Is(err, eventlog.ErrBaseline) || strings.Contains(err.Error(), "\n") {
					t.Errorf("%s returns %v, want one line about the baseline", what, err)
				}
			}
			refused("list", d.Each(t.Context(), true, func(*Letter, bool) error { return nil }))
			refused("replay", d.Replay(t.Context(), &Letter{Partition: 3, Offset: 7, Index: -1, Sum: "0123"}))
			w := NewWriter(enginetest.Kafka(t), eventlog.Access{}, d.log.Name, "test", 0)
			t.Cleanup(w.Close)
			refused("check", w.CheckBaseline(t.Context()))
			refused("write", w.Write(t.Context(), []Letter{{Reason: "value"}}))
			if _, end, err := d.dead.Offsets(t.Context(), 0); err != nil || end != 2 {
				t.Errorf("the topic has %d records, %v; want 2", end, err)
			}
		})
	}
	d := open(t)
	if err := d.writer.CheckBaseline(t.Context()); err != nil {
		t.Errorf("CheckBaseline without a topic: %v", err)
	}
	writeFirst(t, func(ctx context.Context) error { return d.writer.Write(ctx, []Letter{{Reason: "value"}}) })
	if err := d.writer.CheckBaseline(t.Context()); err != nil {
		t.Errorf("CheckBaseline of this baseline's letters: %v", err)
	}
}

// TestNoTopic checks that the list of dead letters is empty if the topic does not exist.
func TestNoTopic(t *testing.T) {
	t.Parallel()
	if letters := list(t, open(t)); len(letters) != 0 {
		t.Errorf("%+v", letters)
	}
}

// TestReplicas checks that the dead-letter topic has as many replicas as the log's topic.
func TestReplicas(t *testing.T) {
	t.Parallel()
	cluster := brokertest.Start(t, brokertest.Options{Nodes: 3})
	cfg := eventlog.Config{Brokers: cluster.Addresses(), Topic: "events", Replicas: 3}
	log, err := eventlog.New(cfg, eventlog.NewMetrics(prometheus.NewRegistry()))
	if err != nil {
		t.Fatal(err)
	}
	ingesttest.Start(t, log)
	created := make(chan int16, 1)
	cluster.On(kmsg.CreateTopics, func(r kmsg.Request) (kmsg.Response, error) {
		created <- r.(*kmsg.CreateTopicsRequest).Topics[0].ReplicationFactor
		return nil, nil
	})
	w := NewWriter(cluster.Addresses(), eventlog.Access{}, "events", "test", 0)
	t.Cleanup(w.Close)
	if err := w.create(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := <-created; n != 3 {
		t.Errorf("%d replicas, want 3", n)
	}
}

// TestLeaderMoves lets the broker answer three times that the partition has another leader. The letter must then be
// written once.
func TestLeaderMoves(t *testing.T) {
	t.Parallel()
	broker := brokertest.Start(t, brokertest.Options{})
	w := NewWriter(broker.Addresses(), eventlog.Access{}, "events", "test", 0)
	t.Cleanup(w.Close)
	var answered atomic.Int32
	broker.On(kmsg.Produce, func(r kmsg.Request) (kmsg.Response, error) {
		req := r.(*kmsg.ProduceRequest)
		if answered.Add(1) > 3 {
			return nil, nil
		}
		partition := kmsg.NewProduceResponseTopicPartition()
		partition.ErrorCode = int16(kafka.NotLeaderForPartition)
		topic := kmsg.NewProduceResponseTopic()
		topic.Topic, topic.Partitions = req.Topics[0].Topic, append(topic.Partitions, partition)
		res := req.ResponseKind().(*kmsg.ProduceResponse)
		res.Topics = append(res.Topics, topic)
		return res, nil
	})
	if err := w.Write(t.Context(), []Letter{{Reason: "x"}}); err != nil {
		t.Fatal(err)
	}
	if got := ingesttest.ReadTopic(t, broker.Addresses(), w.Topic(), 0); len(got) != 1 || answered.Load() != 4 {
		t.Errorf("%d letters after %d requests", len(got), answered.Load())
	}
}
