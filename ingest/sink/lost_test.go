package sink

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest"
	"github.com/octavo-docs/octavo/cmd/engine/enginetest/brokertest"
	"github.com/octavo-docs/octavo/cmd/engine/enginetest/eventually"
	"github.com/octavo-docs/octavo/cmd/engine/kafkaserver"
	"github.com/octavo-docs/octavo/ingest/eventlog"
	"github.com/octavo-docs/octavo/ingest/eventstore"
	"github.com/octavo-docs/octavo/ingest/ingesttest"
	"github.com/octavo-docs/octavo/ingest/intake/intaketest"
)

// lostOf returns the losses of partition 0 in a sink's metrics.
func lostOf(s *Sink) losses {
	s.metrics.backlog.mu.Lock()
	defer s.metrics.backlog.mu.Unlock()
	return s.metrics.backlog.losses[0]
}

// awaitLost waits until a sink's metrics show the given losses of partition 0. A sink shows them only while it owns the
// partition.
func awaitLost(t *testing.T, s *Sink, want losses) {
	t.Helper()
	eventually.Succeeds(t, "the losses", func() error {
		if lost := lostOf(s); lost != want {
			return fmt.Errorf("%v are shown as lost, want %v", lost, want)
		}
		return nil
	})
}

// onePartition configures one partition, and timeouts that are longer than the test.
func onePartition(c *eventlog.Config) {
	c.Partitions, c.ProduceTimeout, c.AppendTimeout = 1, eventually.Patience, eventually.Patience
}

// TestSinkCountsWhatExpired checks that messages which left the log before they were stored are counted once, even if
// several sinks notice them. The commit of the group has the number.
func TestSinkCountsWhatExpired(t *testing.T) {
	t.Parallel()
	broker := brokertest.Start(t, brokertest.Options{})
	l := newTestLog(t, broker.Addresses(), onePartition)
	for range 8 {
		if err := l.Append(t.Context(), "site", 0, []byte("a")); err != nil {
			t.Fatal(err)
		}
	}
	broker.On(kmsg.ListOffsets, func(r kmsg.Request) (kmsg.Response, error) {
		req := r.(*kmsg.ListOffsetsRequest)
		if req.Topics[0].Partitions[0].Timestamp != kafka.FirstOffset {
			return nil, nil
		}
		res := r.ResponseKind().(*kmsg.ListOffsetsResponse)
		topic := kmsg.NewListOffsetsResponseTopic()
		topic.Topic = "events"
		partition := kmsg.NewListOffsetsResponseTopicPartition()
		partition.Timestamp, partition.Offset = kafka.FirstOffset, 5
		topic.Partitions = append(topic.Partitions, partition)
		res.Topics = append(res.Topics, topic)
		return res, nil
	})
	s := newTestSink(t, Config{
		Brokers: broker.Addresses(), Topic: "events", Store: &eventstore.ClickHouse{}, Logger: ingesttest.Logger(t),
	})
	t.Cleanup(s.log.Close)
	had := parseProgress(2, "octavo1 to=4 after=0123 end=7 retention=10 recreated=1")
	for range 2 { // the first sink ends before it commits
		p := &partition{committed: had}
		if err := s.locate(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		if want := (losses{13, 1}); p.start != 5 || p.intent != 0 || p.lost != want || lostOf(s) != want {
			t.Errorf("the partition begins at %d with intent %d and losses %v (%v), want 5, 0 and %v", p.start, p.intent, p.lost, lostOf(s), want)
		}
		// The messages of the announced cut no longer exist, so the sink declares the version of its tombstones before
		// any message arrives.
		source := &tombstones{}
		version := source.erase(1, time.Now())
		s.cfg.Erased = source.follow(t, false)
		g := &generation{sink: s, partitions: []*partition{p}, stored: map[int]progress{}}
		g.honour()
		if at := g.stored[0]; at.offset != 5 || at.intent != 0 || at.lost != (losses{13, 1}) || at.erased != version || g.honoured < version {
			t.Errorf("the sink says %+v of the partition, honours version %d of %d", at, g.honoured, version)
		}
		clear(g.stored)
		g.honoured = 0
		if g.honour(); len(g.stored) != 0 {
			t.Errorf("the sink says it again: %+v", g.stored)
		}
	}
	if text := (progress{offset: 5, plain: 0, lost: losses{13, 1}}).metadata(); !strings.Contains(text, "retention=13 recreated=1") {
		t.Errorf("the commit has the metadata %q", text)
	}
}

// TestSinkCountsALostEnd damages the last messages of the log, which are not stored yet. The sink stores all other
// messages. It must count the loss once, before any further message arrives.
func TestSinkCountsALostEnd(t *testing.T) {
	t.Parallel()
	for name, first := range map[string]int{"after others": 6, "alone": 0} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			broker := brokertest.Start(t, brokertest.Options{Dir: dir})
			r := &rig{t: t, brokers: broker.Addresses(), topic: "events"}
			r.store, r.conn = newStore(t, enginetest.ClickHouse(t))
			r.log = newTestLog(t, r.brokers, onePartition)
			r.intake = intaketest.New(t, r.log)
			for i := range 2 {
				r.accept(numbered(i, 1))
			}
			s := r.sink(nil, nil)
			r.awaitStored(2)
			r.awaitCommitted(1)
			r.stop(s)
			names, err := filepath.Glob(filepath.Join(dir, "broker", "topics", "*", "0", "*.log"))
			if err != nil || len(names) != 1 {
				t.Fatal(names, err)
			}
			for i := range first {
				r.accept(numbered(2+i, 1))
			}
			before, err := os.ReadFile(names[0])
			if err != nil {
				t.Fatal(err)
			}
			for i := range 3 {
				r.accept(numbered(2+first+i, 1))
			}
			content, err := os.ReadFile(names[0])
			if err != nil {
				t.Fatal(err)
			}
			clear(content[len(before):])
			if err := os.WriteFile(names[0], content, 0o600); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				s := r.sink(nil, nil)
				r.awaitStored(2 + first)
				eventually.Succeeds(t, "the count of the loss", func() error {
					if n, err := Lost(t.Context(), r.log, r.topic+"-sink"); err != nil || n != 3 {
						return fmt.Errorf("%d messages are committed as lost, %w", n, err)
					}
					return nil
				})
				r.stop(s)
			}
			r.accept(numbered(100, 1))
			s = r.sink(nil, nil)
			r.awaitStored(3 + first)
			r.awaitCommitted(1)
			awaitLost(t, s, losses{lostDamaged: 3})
			r.stop(s)
		})
	}
}

// TestSinkGoesOnBehindDamage damages a message in the log that is not stored yet. The sinks must store each other
// message once, and count the loss once, although the first sink ends between its commit and its insert.
func TestSinkGoesOnBehindDamage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	broker := brokertest.Start(t, brokertest.Options{Dir: dir})
	r := &rig{t: t, brokers: broker.Addresses(), topic: "events"}
	r.store, r.conn = newStore(t, enginetest.ClickHouse(t))
	r.log = newTestLog(t, r.brokers, onePartition)
	r.intake = intaketest.New(t, r.log)
	for i := range 9 {
		r.accept(numbered(i, 1))
	}
	names, err := filepath.Glob(filepath.Join(dir, "broker", "topics", "*", "0", "*.log"))
	if err != nil || len(names) != 1 {
		t.Fatal(names, err)
	}
	content, err := os.ReadFile(names[0])
	if err != nil {
		t.Fatal(err)
	}
	content[len(content)/2] ^= 1
	if err := os.WriteFile(names[0], content, 0o600); err != nil {
		t.Fatal(err)
	}
	var tried atomic.Bool
	away := &faultyStore{Store: r.store, before: func(int) error {
		tried.Store(true)
		return errors.New("the store is away")
	}}
	s := r.sink(away, nil)
	eventually.True(t, "an insert", tried.Load)
	r.stop(s)
	for range 2 {
		s = r.sink(nil, nil)
		r.awaitStored(8)
		r.awaitCommitted(1)
		awaitLost(t, s, losses{lostDamaged: 1})
		if n, err := Lost(t.Context(), r.log, r.topic+"-sink"); err != nil || n != 1 {
			t.Errorf("%d lost messages are committed, %v", n, err)
		}
		r.stop(s)
	}
	if n := kafkaserver.DamagedFiles(dir); n != 1 {
		t.Errorf("%d files keep damaged bytes", n)
	}
}

// TestSinkTopicMadeAnewWhileItRuns deletes and recreates a topic while the store is unavailable. Before the sink reads
// again, the new topic has more messages than the sink's offset. The sink must skip no message of the new topic, and
// must count the lost messages.
func TestSinkTopicMadeAnewWhileItRuns(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	var away atomic.Bool
	store := &faultyStore{Store: r.store, before: func(int) error {
		if away.Load() {
			return errors.New("the store is away")
		}
		return nil
	}}
	s := r.sink(store, func(c *Config) { c.BatchRows, c.BatchBytes, c.FetchBytes = 1, 1, 1 })
	for i := range 5 {
		r.accept(numbered(i, 1))
	}
	r.awaitStored(5)
	r.awaitCommitted(1)
	away.Store(true)
	for i := range 20 {
		r.accept(numbered(5+i, 1))
	}
	eventually.True(t, "the sink to read the log's end", func() bool {
		return testutil.ToFloat64(s.metrics.logLag.WithLabelValues("0")) == 20
	})
	client := &kafka.Client{Addr: kafka.TCP(r.brokers...), Timeout: eventually.Patience}
	res, err := client.DeleteTopics(t.Context(), &kafka.DeleteTopicsRequest{Topics: []string{r.topic}})
	if err == nil {
		err = res.Errors[r.topic]
	}
	if err != nil {
		t.Fatal(err)
	}
	eventually.Succeeds(t, "the recreated topic", func() error {
		end, err := r.log.End(t.Context(), 0)
		if err == nil && end > 0 {
			err = errors.New("it is still the old topic")
		}
		return err
	})
	for i := range 40 {
		// A message that is sent while the topic is recreated may be refused although it is in the log.
		eventually.Succeeds(t, "the new log", func() error {
			return r.log.Append(t.Context(), intaketest.Site.ID, 0, messagesOf(t, 100+i, 1, 1)[0])
		})
	}
	away.Store(false)
	pages := func(condition string) (n uint64) {
		if err := r.conn.QueryRow(t.Context(), "SELECT uniqExact(page) FROM events WHERE toInt32(page) "+condition).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	eventually.True(t, "all messages of the new log to be stored", func() bool { return pages(">= 100") == 40 })
	old := pages("< 100")
	if lost := lostOf(s); lost != (losses{0, 25 - int64(old)}) || old >= 25 {
		t.Errorf("%d of 25 messages are stored, and %v are shown as lost", old, lost)
	}
	if n := testutil.ToFloat64(s.metrics.recreated); n != 1 {
		t.Errorf("%v recreated logs counted", n)
	}
	// The sink commits the loss with its offset.
	eventually.True(t, "the loss to be committed", func() bool {
		n, err := Lost(t.Context(), r.log, r.topic+"-sink")
		return err == nil && n == 25-int64(old)
	})
}

// TestSinkReadsNoWindow checks that a sink that takes over a partition reads the messages before its start only if some
// of them have no producer id.
func TestSinkReadsNoWindow(t *testing.T) {
	t.Parallel()
	broker := brokertest.Start(t, brokertest.Options{})
	r := &rig{t: t, brokers: broker.Addresses(), topic: "events"}
	r.store, r.conn = newStore(t, enginetest.ClickHouse(t))
	r.log = newTestLog(t, r.brokers, onePartition)
	r.intake = intaketest.New(t, r.log)
	var lowest atomic.Int64
	broker.On(kmsg.Fetch, func(q kmsg.Request) (kmsg.Response, error) {
		if q.(*kmsg.FetchRequest).MinBytes == 0 {
			return nil, nil // the sink also reads the oldest message, to check its baseline
		}
		for _, topic := range q.(*kmsg.FetchRequest).Topics {
			lowest.Store(min(lowest.Load(), topic.Partitions[0].FetchOffset))
		}
		return nil, nil
	})
	stored := 0
	generation := func(want int64, add func()) {
		t.Helper()
		lowest.Store(math.MaxInt64)
		s := r.sink(nil, nil)
		add()
		stored++
		r.awaitStored(stored)
		r.awaitCommitted(1)
		r.stop(s)
		if got := lowest.Load(); got != want {
			t.Errorf("with %d messages stored, the sink read from %d, want %d", stored, got, want)
		}
	}
	accept := func() { r.accept(numbered(stored, 1)) }
	generation(0, accept)
	generation(0, accept) // the sink reads the last message before its start, to notice another log
	generation(1, accept)
	generation(0, func() { // the message may be a repeat, so it has no producer id
		if err := r.log.AppendAgain(t.Context(), intaketest.Site.ID, 0, messagesOf(t, stored, 1, 1)[0]); err != nil {
			t.Fatal(err)
		}
	})
	generation(0, accept) // a message before the start has no producer id
}

// TestSinkShowsItsBacklog checks that the metrics show the age of the oldest message that is not stored, and the time
// until the log deletes it.
func TestSinkShowsItsBacklog(t *testing.T) {
	t.Parallel()
	b := newBacklog()
	p := &partition{id: 3}
	b.add(p)
	b.setRetention(time.Hour)
	now := time.Now()
	show := func() (text string) {
		age := p.ages.oldest(p.stored.Load(), p.end.Load(), now)
		return strconv.Itoa(int(age / time.Minute))
	}
	p.end.Store(10)
	p.ages.add(4, now.Add(-10*time.Minute))
	p.ages.add(6, now.Add(-8*time.Minute))
	got := []string{show()}
	p.ages.stored(3) // the stored messages end between two messages of a fetch
	p.stored.Store(3)
	got = append(got, show())
	p.stored.Store(4)
	got = append(got, show())
	p.stored.Store(6) // the remaining messages have not been read yet
	got = append(got, show())
	p.stored.Store(10)
	got = append(got, show())
	if want := "10 10 8 8 0"; strings.Join(got, " ") != want {
		t.Errorf("the oldest is %v minutes old, want %s", got, want)
	}
	if err := testutil.CollectAndCompare(b, strings.NewReader(`
# HELP octavo_sink_retention_left_seconds How much longer the log keeps a partition's oldest message that is not stored yet; then it is lost. Absent for a log that keeps messages for ever.
# TYPE octavo_sink_retention_left_seconds gauge
octavo_sink_retention_left_seconds{partition="3"} 3600
`), "octavo_sink_retention_left_seconds"); err != nil {
		t.Error(err)
	}
	other := &partition{id: 3}
	b.add(other)
	b.remove(p) // has no effect, because the next generation has added the partition
	if n := testutil.CollectAndCount(b, "octavo_sink_lost_messages_total"); n != len(lossReasons) {
		t.Errorf("%d series of losses", n)
	}
}
