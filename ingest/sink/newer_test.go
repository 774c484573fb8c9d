package sink

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/segmentio/kafka-go"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest/eventually"
	"github.com/octavo-docs/octavo/ingest/eventlog"
	"github.com/octavo-docs/octavo/ingest/ingesttest"
	"github.com/octavo-docs/octavo/ingest/intake"
	"github.com/octavo-docs/octavo/ingest/intake/intaketest"
	"github.com/octavo-docs/octavo/schema/insights"
)

// laterVersion returns a copy of a message with the next version's format number.
func laterVersion(message []byte) []byte {
	later := slices.Clone(message)
	later[2]++
	return later
}

// laterByte is the version byte of the messages that laterVersion returns.
var laterByte = func() byte {
	var present insights.Encoder
	present.Begin(insights.MessageID{}, intaketest.Site.ID, 0)
	return laterVersion(present.Bytes())[2]
}()

// parseLater parses messages like a sink of the next version.
func parseLater(data []byte) (insights.Message, error) {
	if len(data) > 2 && data[2] == laterByte {
		data = slices.Clone(data)
		data[2]--
	}
	return insights.ParseMessage(data)
}

// messagesOf returns the log messages of several requests. Each request has the given number of events.
func messagesOf(t *testing.T, first, requests, each int) [][]byte {
	t.Helper()
	memory := &ingesttest.MemoryLog{}
	in := intaketest.New(t, memory)
	for i := range requests {
		if err := in.Accept(t.Context(), intaketest.Site, numbered(first+i*each, each), intake.Client{Now: time.Now(), AnyPast: true}); err != nil {
			t.Fatal(err)
		}
	}
	return memory.Messages
}

// TestSinkHoldsNewer checks that a message of a later version stops only its own partition, and does not become a dead
// letter. A sink of the later version must then store each event once.
func TestSinkHoldsNewer(t *testing.T) {
	t.Parallel()
	r := newRig(t, 2)
	put := func(partition int, list ...[]byte) {
		t.Helper()
		for _, m := range list {
			if err := r.log.Append(t.Context(), intaketest.Site.ID, partition, m); err != nil {
				t.Fatal(err)
			}
		}
	}
	list := messagesOf(t, 0, 10, 5)
	put(0, list[0], list[1], laterVersion(list[2]), list[3])
	old := r.sink(nil, nil)
	eventually.True(t, "the partition to be held", func() bool {
		return testutil.ToFloat64(old.metrics.storeErrors.WithLabelValues(newerReason)) > 0
	})
	put(1, list[4], list[5])
	put(0, list[6])
	r.awaitStored(20) // the stored requests have the numbers 0, 1, 4 and 5
	eventually.True(t, "the stall to show", func() bool {
		old.metrics.stalled.mu.Lock()
		defer old.metrics.stalled.mu.Unlock()
		return testutil.ToFloat64(old.metrics.logLag.WithLabelValues("0")) == 3 && old.metrics.stalled.partitions[0].pending
	})
	r.stop(old)
	if p := r.progress(old); p.offset != 2 || p.intent != 0 {
		t.Errorf("the group has %+v of partition 0, want 2 messages stored", p)
	}
	if list, _ := r.letters(true); len(list) != 0 {
		t.Errorf("got dead letters %q, want none", keysOf(list))
	}

	upgraded := newTestSink(t, Config{
		Brokers: r.brokers, Topic: r.topic, Group: r.topic + "-sink", Store: r.store, Logger: ingesttest.Logger(t),
		BatchAge: 20 * time.Millisecond, FetchWait: 20 * time.Millisecond, HeartbeatInterval: 50 * time.Millisecond,
	})
	upgraded.parse = parseLater
	if err := upgraded.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.stop(upgraded) })
	r.awaitStored(35)
	r.awaitCommitted(2)
	if list, _ := r.letters(true); len(list) != 0 {
		t.Errorf("got dead letters %q, want none", keysOf(list))
	}
}

// otherBaseline returns a copy of a message in the format that was used before messages had a baseline.
func otherBaseline(message []byte) []byte {
	other := slices.Clone(message)
	other[1] = 'E'
	return other
}

// TestSinkHoldsAnotherBaseline checks a message of another baseline after a current message. The sink must not store
// it, and must not write a dead letter for it.
func TestSinkHoldsAnotherBaseline(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	list := messagesOf(t, 0, 3, 5)
	for _, m := range [][]byte{list[0], otherBaseline(list[1]), list[2]} {
		if err := r.log.Append(t.Context(), intaketest.Site.ID, 0, m); err != nil {
			t.Fatal(err)
		}
	}
	s := r.sink(nil, nil)
	r.awaitStored(5)
	eventually.True(t, "the partition to be held", func() bool {
		return testutil.ToFloat64(s.metrics.storeErrors.WithLabelValues(newerReason)) > 0
	})
	r.stop(s)
	if p := r.progress(s); p.offset != 1 || p.intent != 0 {
		t.Errorf("the group has %+v, want one message stored", p)
	}
	if list, _ := r.letters(true); len(list) != 0 {
		t.Errorf("got dead letters %q, want none", keysOf(list))
	}
}

// TestSinkRefusesAnotherBaseline checks a sink whose topic begins with messages of another baseline. The sink must not
// be ready, and its error must be one line. It must store no rows and commit no offsets.
func TestSinkRefusesAnotherBaseline(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	list := messagesOf(t, 0, 2, 5)
	for _, m := range [][]byte{otherBaseline(list[0]), list[1]} {
		if err := r.log.Append(t.Context(), intaketest.Site.ID, 0, m); err != nil {
			t.Fatal(err)
		}
	}
	s := r.sink(nil, nil)
	eventually.True(t, "the sink to refuse its topic", func() bool {
		return errors.Is(s.Ready(t.Context()), eventlog.ErrBaseline)
	})
	if text := s.Ready(t.Context()).Error(); !strings.Contains(text, r.topic) || strings.Contains(text, "\n") {
		t.Errorf("Ready returns %q, want one line that names the topic", text)
	}
	r.stop(s)
	if p := r.progress(s); p.offset >= 0 || p.known {
		t.Errorf("the group has %+v, want no progress", p)
	}
	var rows uint64
	if err := r.conn.QueryRow(t.Context(), "SELECT count() FROM events").Scan(&rows); err != nil || rows != 0 {
		t.Errorf("%d rows are stored, %v; want 0", rows, err)
	}
	if list, _ := r.letters(true); len(list) != 0 {
		t.Errorf("got dead letters %q, want none", keysOf(list))
	}
}

// TestSinkHoldsABegunCut checks a cut that a sink of a later version has announced and not finished. A sink that cannot
// read all messages of the cut must store none of them, because its token would differ.
func TestSinkHoldsABegunCut(t *testing.T) {
	t.Parallel()
	list := messagesOf(t, 0, 4, 5)
	p := &partition{repeats: newRepeats(10), intent: 4}
	k := &chunk{partition: p}
	for i, m := range list {
		if i == 2 {
			m = laterVersion(m)
		}
		k.messages = append(k.messages, fetched{offset: int64(i), data: m})
	}
	c := newCut()
	c.fill(p, 0, []*chunk{k}, insights.ParseMessage)
	if c.newer == nil || c.to != 0 || c.total != 0 || len(c.messages) != 0 {
		t.Errorf("took %d rows up to %d of a begun cut, %v", c.total, c.to, c.newer)
	}
	p.intent = 0
	c = newCut()
	c.fill(p, 0, []*chunk{k}, insights.ParseMessage)
	if c.newer == nil || c.to != 2 || c.total != 10 {
		t.Errorf("took %d rows up to %d of a new cut, want 10 up to 2; %v", c.total, c.to, c.newer)
	}
}

// TestOlderMembers checks that sinks of earlier versions are distinguished from sinks of this version.
func TestOlderMembers(t *testing.T) {
	t.Parallel()
	for data, want := range map[string]bool{
		"": true, "octavo/0 reads=1": true, "octavo/1 reads=0": true,
		fmt.Sprintf("octavo/1 reads=%d", insights.Reads-1): true,
		fmt.Sprintf("octavo/1 reads=%d", insights.Reads):   false,
		"octavo/2 reads=4 more":                            false, "rack-a": true, "octavo/x": true,
	} {
		t.Run(data, func(t *testing.T) {
			if got := isOlder([]byte(data)); got != want {
				t.Errorf("a member with %q is older: %v", data, got)
			}
		})
	}
	r := newRig(t, 2)
	group := r.topic + "-sink"
	members := func(want int) {
		t.Helper()
		eventually.Succeeds(t, "the group", func() error {
			n, err := OlderMembers(t.Context(), r.brokers, eventlog.Access{}, r.topic, group)
			if err == nil && n != want {
				err = fmt.Errorf("%d older members", n)
			}
			return err
		})
	}
	members(0) // before the group exists
	s := r.sink(nil, nil)
	r.accept(numbered(0, 3))
	r.awaitStored(3)
	members(0)
	cfg := s.groupConfig()
	cfg.GroupBalancers = []kafka.GroupBalancer{kafka.RangeGroupBalancer{}} // this balancer announces no version
	old, err := kafka.NewConsumerGroup(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), eventually.Patience)
	defer cancel()
	if _, err := old.Next(ctx); err != nil {
		t.Fatal(err)
	}
	members(1)
	if err := old.Close(); err != nil {
		t.Fatal(err)
	}
	r.accept(numbered(3, 3))
	r.awaitStored(6)
	members(0)
}
