package eventlog

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest/brokertest"
	"github.com/octavo-docs/octavo/cmd/engine/enginetest/eventually"
	"github.com/octavo-docs/octavo/ingest/ingesttest"
	"github.com/octavo-docs/octavo/schema/insights"
)

// newTestLog starts a log on a new topic.
func newTestLog(t testing.TB, brokers []string, change func(*Config)) *Log {
	t.Helper()
	cfg := Config{
		Brokers: brokers, Topic: "events", Partitions: 2, RetryWait: time.Millisecond,
		ProduceTimeout: eventually.Patience, Logger: ingesttest.Logger(t),
	}
	if change != nil {
		change(&cfg)
	}
	l, err := New(cfg, NewMetrics(prometheus.NewRegistry()))
	if err != nil {
		t.Fatal(err)
	}
	ingesttest.Start(t, l)
	return l
}

func TestLogAppends(t *testing.T) {
	t.Parallel()
	broker := brokertest.Start(t, brokertest.Options{})
	l := newTestLog(t, broker.Addresses(), nil)
	var senders sync.WaitGroup
	for i := range 300 {
		senders.Go(func() {
			message := []byte(fmt.Sprint("message ", i))
			if err := l.Append(t.Context(), "site", i%2, message); err != nil {
				t.Error(err)
			}
			clear(message) // the log must not use the caller's memory any more
		})
	}
	senders.Wait()
	seen := map[string]int{}
	for partition := range 2 {
		for _, m := range ingesttest.ReadTopic(t, broker.Addresses(), "events", partition) {
			seen[m]++
			var i int
			if _, err := fmt.Sscanf(m, "site=message %d", &i); err != nil || i%2 != partition {
				t.Errorf("%q is in partition %d", m, partition)
			}
		}
	}
	for i := range 300 {
		if n := seen[fmt.Sprint("site=message ", i)]; n != 1 {
			t.Errorf("message %d is in the log %d times", i, n)
		}
	}
	gathered := prometheus.NewRegistry()
	gathered.MustRegister(l.metrics.produceMessages)
	if list, err := gathered.Gather(); err != nil || list[0].GetMetric()[0].GetHistogram().GetSampleSum() != 300 {
		t.Errorf("the histogram of messages per produce has %v, %v, want a sum of 300", list, err)
	}
}

// TestLogUsesWhatExists checks that the log does not change the number of partitions of an existing topic.
func TestLogUsesWhatExists(t *testing.T) {
	t.Parallel()
	broker := brokertest.Start(t, brokertest.Options{})
	newTestLog(t, broker.Addresses(), func(c *Config) { c.Partitions = 3 })
	l := newTestLog(t, broker.Addresses(), func(c *Config) { c.Partitions = 8 })
	if len(l.partitions) != 3 {
		t.Errorf("%d partitions, want 3", len(l.partitions))
	}
}

// TestLogFaults checks that a broker's error for a produce request is returned to exactly those callers whose messages
// are in the request. The log must retry only errors after which a retry can succeed.
func TestLogFaults(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		code   kafka.Error
		times  int32 // how many times the broker gives this answer
		reason *insights.Reason
	}{
		{"leader moves", kafka.NotLeaderForPartition, 2, nil},
		{"replicas are down briefly", kafka.NotEnoughReplicas, 3, nil},
		{"replicas stay down", kafka.NotEnoughReplicas, 1 << 20, insights.LogUnavailable},
		{"not allowed", kafka.TopicAuthorizationFailed, 1, insights.LogUnavailable},
		{"too large", kafka.MessageSizeTooLarge, 1, insights.TooLong},
		{"full", kafka.PolicyViolation, 1, insights.LogFull},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			broker := brokertest.Start(t, brokertest.Options{})
			l := newTestLog(t, broker.Addresses(), func(cfg *Config) {
				if cfg.AppendTimeout = eventually.Patience; c.reason == insights.LogUnavailable {
					cfg.AppendTimeout = 2 * time.Second // ends this case; the other partition has the same limit
				}
			})
			var answered atomic.Int32
			broker.On(kmsg.Produce, func(r kmsg.Request) (kmsg.Response, error) {
				req := r.(*kmsg.ProduceRequest)
				if req.Topics[0].Partitions[0].Partition != 0 || answered.Add(1) > c.times {
					return nil, nil
				}
				res := req.ResponseKind().(*kmsg.ProduceResponse)
				topic := kmsg.NewProduceResponseTopic()
				topic.Topic = req.Topics[0].Topic
				partition := kmsg.NewProduceResponseTopicPartition()
				partition.Partition, partition.ErrorCode = 0, int16(c.code)
				topic.Partitions = append(topic.Partitions, partition)
				res.Topics = append(res.Topics, topic)
				return res, nil
			})
			var senders sync.WaitGroup
			senders.Go(func() {
				err := l.Append(t.Context(), "site", 0, []byte("a"))
				if got := ingesttest.ReasonOf(err); got != c.reason || (err == nil) != (c.reason == nil) {
					t.Errorf("got %v", err)
				}
			})
			senders.Go(func() {
				if err := l.Append(t.Context(), "site", 1, []byte("b")); err != nil {
					t.Errorf("the other partition: %v", err)
				}
			})
			senders.Wait()
			if c.reason == nil {
				if got := ingesttest.ReadTopic(t, broker.Addresses(), "events", 0); len(got) != 1 {
					t.Errorf("the log has %q", got)
				}
				if n := testutil.ToFloat64(l.metrics.produceErrors); n != float64(c.times) {
					t.Errorf("%v errors counted, want %d", n, c.times)
				}
			}
		})
	}
}

// TestLogRepeatsAreTheSame loses the answer to a produce request. The log must send the same bytes again, and Append
// must succeed.
func TestLogRepeatsAreTheSame(t *testing.T) {
	t.Parallel()
	broker := brokertest.Start(t, brokertest.Options{})
	l := newTestLog(t, broker.Addresses(), func(c *Config) {
		// With these long timeouts, the log does not send a third produce request.
		c.Partitions, c.ProduceTimeout, c.AppendTimeout = 1, eventually.Patience, eventually.Patience
	})
	var mu sync.Mutex
	var sent []string
	broker.On(kmsg.Produce, func(r kmsg.Request) (kmsg.Response, error) {
		mu.Lock()
		defer mu.Unlock()
		sent = append(sent, string(r.(*kmsg.ProduceRequest).Topics[0].Partitions[0].Records))
		if len(sent) == 1 {
			return nil, errors.New("the connection breaks")
		}
		return nil, nil
	})
	if err := l.Append(t.Context(), "site", 0, []byte("once")); err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	defer mu.Unlock()
	if len(sent) != 2 || sent[0] != sent[1] {
		t.Errorf("%d produces, or they differ", len(sent))
	}
}

// TestLogGathers checks that messages which arrive during a produce request are sent together in the next request.
func TestLogGathers(t *testing.T) {
	t.Parallel()
	broker := brokertest.Start(t, brokertest.Options{})
	l := newTestLog(t, broker.Addresses(), func(c *Config) { c.Partitions, c.MaxBatchMessages = 1, 30 })
	started, release := make(chan struct{}), make(chan struct{})
	var produces atomic.Int32
	broker.On(kmsg.Produce, func(kmsg.Request) (kmsg.Response, error) {
		if produces.Add(1) == 1 {
			close(started)
			<-release
		}
		return nil, nil
	})
	var senders sync.WaitGroup
	send := func(i int) {
		senders.Go(func() {
			if err := l.Append(t.Context(), "site", 0, []byte(fmt.Sprint(i))); err != nil {
				t.Error(err)
			}
		})
	}
	send(0)
	<-started
	for i := range 90 {
		send(i + 1)
	}
	p := l.partitions[0]
	eventually.True(t, "all messages to join the batch", func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		n := 0
		for _, b := range p.pending {
			n += b.count
		}
		return n == 90
	})
	close(release)
	senders.Wait()
	if n := produces.Load(); n != 4 {
		t.Errorf("%d produces, want 1 and then 3 of 30", n)
	}
}

// TestLogTakesTurns checks which partition a message gets. Messages for AnyPartition get the same partition until its
// turn is over. They skip partitions in which a full batch waits. A message for a certain partition gets this
// partition, or an error if the partition does not exist.
func TestLogTakesTurns(t *testing.T) {
	t.Parallel()
	const turn = 500 * time.Millisecond
	l := &Log{cfg: Config{Turn: turn, MaxBatchMessages: 2, MaxBatchBytes: 1 << 20}, running: true}
	for id := range 3 {
		l.partitions = append(l.partitions, &partition{log: l, id: id, wake: make(chan struct{}, 1)})
	}
	begin := time.UnixMilli(3 * 7 * turn.Milliseconds())
	want := func(after time.Duration, asked, id int) {
		t.Helper()
		if p, err := l.partition(asked, begin.Add(after)); err != nil || p.id != id {
			t.Errorf("%s after the first Turn began, a message for partition %d goes to %v (%v), want %d", after, asked, p, err, id)
		}
	}
	fill := func(id, messages int) {
		for range messages {
			l.partitions[id].add("site", []byte("a"), false)
		}
	}
	want(0, AnyPartition, 0)
	want(turn-time.Millisecond, AnyPartition, 0)
	want(turn, AnyPartition, 1)
	want(2*turn, AnyPartition, 2)
	want(3*turn, AnyPartition, 0)
	want(turn, 2, 2)
	for _, id := range []int{-2, 3} {
		if _, err := l.partition(id, begin); err == nil {
			t.Errorf("partition %d of 3 exists", id)
		}
	}
	fill(0, 2)
	want(0, AnyPartition, 0) // the only batch is full, and no other batch waits
	fill(0, 1)
	want(0, AnyPartition, 1)
	want(2*turn, AnyPartition, 2)
	want(0, 0, 0)
	fill(1, 3)
	fill(2, 3)
	want(turn, AnyPartition, 1) // in all partitions, a full batch waits
	l.partitions[1].next()
	want(0, AnyPartition, 1)
}

// TestLogGivesUpInTime checks that a message is not sent if AppendTimeout ended while it waited in the queue. So a
// caller never waits longer than AppendTimeout, even if the queue is long.
func TestLogGivesUpInTime(t *testing.T) {
	t.Parallel()
	broker := brokertest.Start(t, brokertest.Options{})
	l := newTestLog(t, broker.Addresses(), nil)
	b := newBatch(nil, time.Now().Add(-l.cfg.AppendTimeout))
	b.add("site", []byte("late"))
	if _, err := l.produce(t.Context(), l.partitions[0], b); ingesttest.ReasonOf(err) != insights.LogUnavailable {
		t.Errorf("got %v", err)
	}
	if got := ingesttest.ReadTopic(t, broker.Addresses(), "events", 0); len(got) != 0 {
		t.Errorf("the log has %q", got)
	}
}

// TestLogRecentEnd checks that RecentEnd never returns more than the partition's end, and returns the new end after a
// second. Concurrent callers share one request to the broker.
func TestLogRecentEnd(t *testing.T) {
	t.Parallel()
	broker := brokertest.Start(t, brokertest.Options{})
	l := newTestLog(t, broker.Addresses(), nil)
	appended := int64(0)
	for round := range 3 {
		var all sync.WaitGroup
		for range 50 {
			all.Go(func() {
				if end, err := l.RecentEnd(t.Context(), 1); err != nil || end > appended {
					t.Errorf("the recent end is %d of %d, %v", end, appended, err)
				}
			})
		}
		all.Wait()
		var e insights.Encoder
		e.Begin(insights.MessageID{byte(round)}, "site", 0)
		if err := l.Append(t.Context(), "site", 1, e.Bytes()); err != nil {
			t.Fatal(err)
		}
		appended++
	}
	for range 20 {
		if _, err := l.RecentEnd(ingesttest.Cancelled(t), 0); !errors.Is(err, context.Canceled) {
			t.Fatalf("a caller that has gone gets %v", err)
		}
	}
	if end, err := l.RecentEnd(t.Context(), 0); err != nil || end != 0 {
		t.Errorf("the recent end of another partition is %d, %v", end, err)
	}
	eventually.True(t, "the recent end follows the end", func() bool {
		end, err := l.RecentEnd(t.Context(), 1)
		return err == nil && end == appended
	})
}

// TestAScanEndsWhereTheLogIsDamaged checks Scan on a log whose last messages are missing because of damage. Scan must
// return ErrNoEnd.
func TestAScanEndsWhereTheLogIsDamaged(t *testing.T) {
	t.Parallel()
	broker := brokertest.Start(t, brokertest.Options{})
	l := newTestLog(t, broker.Addresses(), nil)
	broker.On(kmsg.Fetch, func(q kmsg.Request) (kmsg.Response, error) {
		resp := q.ResponseKind().(*kmsg.FetchResponse)
		topic := kmsg.NewFetchResponseTopic()
		topic.Topic = q.(*kmsg.FetchRequest).Topics[0].Topic
		partition := kmsg.NewFetchResponseTopicPartition()
		partition.Partition, partition.HighWatermark, partition.RecordBatches = 1, 8, []byte{}
		topic.Partitions = append(topic.Partitions, partition)
		resp.Topics = append(resp.Topics, topic)
		return resp, nil
	})
	topic, err := l.Topic()
	if err != nil {
		t.Fatal(err)
	}
	err = topic.Scan(t.Context(), 1, 5, 8, func(Record) error { return errors.New("there is no record") })
	if err == nil || !strings.Contains(err.Error(), "partition 1 ends at 8 but has no message from offset 5 on") {
		t.Errorf("got %v", err)
	}
}

// TestAScanReturnsItsCallbacksError checks that Scan stops at an error of its callback and returns it. This includes
// io.EOF: a callback may get it from a broken connection to another server, so it does not mean that the log has ended.
func TestAScanReturnsItsCallbacksError(t *testing.T) {
	t.Parallel()
	broker := brokertest.Start(t, brokertest.Options{})
	l := newTestLog(t, broker.Addresses(), nil)
	for i := range 3 {
		if err := l.Append(t.Context(), "site", 1, []byte{byte(i)}); err != nil {
			t.Fatal(err)
		}
	}
	topic, err := l.Topic()
	if err != nil {
		t.Fatal(err)
	}
	for _, cause := range []error{
		io.EOF, io.ErrUnexpectedEOF, net.ErrClosed, context.Canceled, kafka.UnknownTopicOrPartition, ErrNoEnd,
	} {
		read := 0
		err := topic.Scan(t.Context(), 1, 0, 3, func(Record) error {
			read++
			return fmt.Errorf("cannot compare: %w", cause)
		})
		if !errors.Is(err, cause) || read != 1 {
			t.Errorf("%v: got %v after %d records", cause, err, read)
		}
	}
}

// TestLogFinds checks that Find finds a message if the search starts at the message's offset or before it. If the start
// is after the log's end, the topic was recreated, and the search starts at the first message.
func TestLogFinds(t *testing.T) {
	t.Parallel()
	broker := brokertest.Start(t, brokertest.Options{})
	l := newTestLog(t, broker.Addresses(), nil)
	var ids []insights.MessageID
	for i := range 20 {
		var e insights.Encoder
		ids = append(ids, insights.MessageID{byte(i + 1)})
		e.Begin(ids[i], "site", 0)
		if err := l.Append(t.Context(), "site", 1, e.Bytes()); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Append(t.Context(), "site", 1, []byte("OE")); err != nil { // too short to have an id
		t.Fatal(err)
	}
	end, err := l.End(t.Context(), 1)
	if err != nil || end != 21 {
		t.Errorf("the end is %d, %v", end, err)
	}
	for _, c := range []struct {
		from  int64
		id    insights.MessageID
		found bool
	}{
		{0, ids[0], true}, {0, ids[19], true}, {7, ids[7], true}, {8, ids[7], false}, {21, ids[19], false}, {0, insights.MessageID{99}, false},
		{1000, ids[3], true}, // the start is after the log's end, so the topic was recreated
	} {
		t.Run(fmt.Sprint(c.id[0], " from ", c.from), func(t *testing.T) {
			found, next, err := l.Find(t.Context(), 1, c.from, c.id)
			if err != nil || found != c.found || !found && next != end {
				t.Errorf("from %d: found %v, next %d, %v", c.from, found, next, err)
			}
		})
	}
	if _, next, err := l.Find(ingesttest.Cancelled(t), 1, 3, ids[9]); err == nil || next != 3 {
		t.Errorf("without time: next %d, %v", next, err)
	}
}

// TestLogCannotFindWhatIsGone checks Find after the log was trimmed past the search's start, and after the topic was
// recreated. Find still finds a message that the log has. It does not report that another message is absent.
func TestLogCannotFindWhatIsGone(t *testing.T) {
	t.Parallel()
	broker := brokertest.Start(t, brokertest.Options{})
	l := newTestLog(t, broker.Addresses(), nil)
	for i := range 10 {
		var e insights.Encoder
		e.Begin(insights.MessageID{byte(i + 1)}, "site", 0)
		if err := l.Append(t.Context(), "site", 1, e.Bytes()); err != nil {
			t.Fatal(err)
		}
	}
	trim(t, broker.Addresses()[0], 1, 5)
	for _, from := range []int64{4, 11} {
		if found, _, err := l.Find(t.Context(), 1, from, insights.MessageID{6}); err != nil || !found {
			t.Errorf("from %d: a message that the log has: found %v, %v", from, found, err)
		}
		found, next, err := l.Find(t.Context(), 1, from, insights.MessageID{5})
		if found || next != from || !errors.Is(err, ErrUnknowable) {
			t.Errorf("from %d: a message that is gone: found %v, next %d, %v", from, found, next, err)
		}
	}
	if found, next, err := l.Find(t.Context(), 1, 5, insights.MessageID{5}); found || next != 10 || err != nil {
		t.Errorf("from the first message: found %v, next %d, %v", found, next, err)
	}
	cancelled := ingesttest.Cancelled(t)
	if _, next, err := l.Find(cancelled, 1, 4, insights.MessageID{5}); err == nil || next != 4 {
		t.Errorf("without time: next %d, %v", next, err)
	}
}

// trim removes the records of the topic `events` before an offset.
func trim(t *testing.T, address string, partition int32, to int64) {
	t.Helper()
	q := kmsg.NewPtrDeleteRecordsRequest()
	topic, of := kmsg.NewDeleteRecordsRequestTopic(), kmsg.NewDeleteRecordsRequestTopicPartition()
	topic.Topic, of.Partition, of.Offset = "events", partition, to
	topic.Partitions = append(topic.Partitions, of)
	q.Topics, q.TimeoutMillis = append(q.Topics, topic), int32(eventually.Patience.Milliseconds())
	c, err := new(net.Dialer).DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	if _, err := c.Write(kmsg.NewRequestFormatter().AppendRequest(nil, q, 1)); err != nil {
		t.Fatal(err)
	}
	head := make([]byte, 8) // the size of the rest, and the request's number
	if _, err := io.ReadFull(c, head); err != nil {
		t.Fatal(err)
	}
	body := make([]byte, binary.BigEndian.Uint32(head)-4)
	if _, err := io.ReadFull(c, body); err != nil {
		t.Fatal(err)
	}
	answer := q.ResponseKind().(*kmsg.DeleteRecordsResponse)
	if err := answer.ReadFrom(body); err != nil {
		t.Fatal(err)
	}
	if got := answer.Topics[0].Partitions[0]; got.ErrorCode != 0 || got.LowWatermark != to {
		t.Fatalf("the log was not trimmed: %+v", got)
	}
}

func TestLogStops(t *testing.T) {
	t.Parallel()
	broker := brokertest.Start(t, brokertest.Options{})
	l := newTestLog(t, broker.Addresses(), nil)
	if err := l.Append(t.Context(), "site", 0, make([]byte, l.cfg.MaxMessageBytes+1)); ingesttest.ReasonOf(err) != insights.TooLong {
		t.Errorf("a large message: %v", err)
	}
	if err := l.Append(t.Context(), "site", 0, make([]byte, l.cfg.MaxBatchBytes+1)); err != nil {
		t.Errorf("a message larger than a batch: %v", err)
	}
	if err := l.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := l.Append(t.Context(), "site", 0, []byte("late")); ingesttest.ReasonOf(err) != insights.LogUnavailable {
		t.Errorf("after Stop: %v", err)
	}
}
