package sink

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/segmentio/kafka-go"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest/eventually"
	"github.com/octavo-docs/octavo/ingest/balance"
	"github.com/octavo-docs/octavo/ingest/deadletter"
	"github.com/octavo-docs/octavo/ingest/eventlog"
	"github.com/octavo-docs/octavo/ingest/ingesttest"
	"github.com/octavo-docs/octavo/ingest/intake/intaketest"
	"github.com/octavo-docs/octavo/schema/insights"
)

// refuse makes the store refuse events with certain URLs.
func (r *rig) refuse(condition string) {
	r.t.Helper()
	if err := r.conn.Exec(r.t.Context(), "ALTER TABLE events ADD CONSTRAINT poison CHECK NOT ("+condition+")"); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) letters(all bool) (list []*deadletter.Letter, states []bool) {
	r.t.Helper()
	d, err := deadletter.Open(r.brokers, eventlog.Access{}, r.topic)
	if err != nil {
		r.t.Fatal(err)
	}
	defer d.Close()
	err = d.Each(r.t.Context(), all, func(letter *deadletter.Letter, replayed bool) error {
		list, states = append(list, letter), append(states, replayed)
		return nil
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return list, states
}

func keysOf(list []*deadletter.Letter) (keys []string) {
	for _, d := range list {
		keys = append(keys, d.Key())
	}
	return keys
}

// TestDeadLetters checks that the sink finds the rows that the store refuses, writes a dead letter with the details of
// each, and stores all other rows.
func TestDeadLetters(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	r.refuse("page IN ('13', '14', '77')")
	for i := range 4 {
		r.accept(numbered(i*25, 25))
	}
	if err := r.log.Append(t.Context(), "site_1", 0, []byte("junk")); err != nil {
		t.Fatal(err)
	}
	s := r.sink(nil, nil)
	r.awaitStored(97)
	r.awaitCommitted(1)
	list, _ := r.letters(false)
	if len(list) != 4 {
		t.Fatalf("%d dead letters, want 4", len(list))
	}
	i := slices.IndexFunc(list, func(d *deadletter.Letter) bool { return d.Index < 0 })
	if i < 0 {
		t.Fatal("no dead letter of the junk")
	}
	if junk := list[i]; junk.Offset != 4 || junk.Reason != "unreadable" || string(junk.Message) != "junk" || junk.Site != "" {
		t.Errorf("%+v", junk)
	}
	for _, d := range list {
		if d.Index < 0 {
			continue
		}
		n := int(d.Offset)*25 + d.Index
		rows := ingesttest.RowsOf(t, d.Message)
		if n != 13 && n != 14 && n != 77 || d.Reason != "constraint" || d.Topic != r.topic || d.Partition != 0 || d.Site != "site_1" || time.Since(d.Received).Abs() > time.Hour ||
			!strings.Contains(d.Error, "poison") || len(rows) != 1 || rows[0]["page"] != fmt.Sprint(n) {
			t.Errorf("%+v with the rows %v", d, rows)
		}
	}
	if a, b := testutil.ToFloat64(s.metrics.deadLettered.WithLabelValues("constraint")), testutil.ToFloat64(s.metrics.stored); a != 3 || b != 97 {
		t.Errorf("%v counted as dead letters, %v as stored", a, b)
	}
}

// TestDeadLettersInterrupted checks a sink that ends after it has written dead letters, before it commits. The next
// sink writes the letters again. A reader must get each letter once, and no row may be stored twice.
func TestDeadLettersInterrupted(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	r.refuse("endsWith(page, '7')")
	for i := range 3 {
		r.accept(numbered(i*10, 10))
	}
	first := newTestSink(t, Config{Brokers: r.brokers, Topic: r.topic, Group: r.topic + "-sink", Store: r.store, Logger: ingesttest.Logger(t)})
	// The first sink processes its first cut, but does not commit it.
	g := newGeneration(first, member{generation: -1}, nil)
	p := &partition{id: 0, committed: progress{offset: -1}, repeats: newRepeats(100)}
	k, err := first.fetch(t.Context(), p, 0, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	c := newCut()
	c.fill(p, 0, []*chunk{k}, insights.ParseMessage)
	if !g.write(t.Context(), t.Context(), c) {
		t.Fatal("the first sink could not store its cut")
	}
	if before, _ := r.letters(false); len(before) != 3 {
		t.Fatalf("%d dead letters of the first sink, want 3", len(before))
	}
	second := r.sink(nil, nil)
	r.awaitStored(27)
	r.awaitCommitted(1)
	if n := testutil.ToFloat64(second.metrics.deadLettered.WithLabelValues("constraint")); n != 3 {
		t.Fatalf("the heir wrote %v dead letters, want 3", n)
	}
	if list, _ := r.letters(false); len(list) != 3 {
		t.Errorf("the dead letters are %q, want 3", keysOf(list))
	}
}

// TestDeadLettersReplay checks that an event is stored once, even if it is replayed several times.
// TestReplayInterrupted (package deadletter) tests interrupted replays.
func TestDeadLettersReplay(t *testing.T) {
	t.Parallel()
	r := newRig(t, 2)
	r.refuse("endsWith(page, '3')")
	for i := range 4 {
		r.accept(numbered(i*10, 10))
	}
	r.sink(nil, nil)
	r.awaitStored(36)
	r.awaitCommitted(2)
	list, _ := r.letters(false)
	if len(list) != 4 {
		t.Fatalf("%d dead letters, want 4", len(list))
	}
	if err := r.conn.Exec(t.Context(), "ALTER TABLE events DROP CONSTRAINT poison"); err != nil {
		t.Fatal(err)
	}
	d, err := deadletter.Open(r.brokers, eventlog.Access{}, r.topic)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for _, letter := range list {
		if err := d.Replay(t.Context(), letter); err != nil {
			t.Fatal(err)
		}
		if err := d.Replay(t.Context(), letter); !errors.Is(err, deadletter.ErrReplayed) {
			t.Errorf("the second replay: %v", err)
		}
	}
	r.awaitStored(40)
	r.accept(numbered(40, 10))
	r.awaitStored(50)
	if left, _ := r.letters(false); len(left) != 0 {
		t.Errorf("%q are still waiting", keysOf(left))
	}
	all, replayed := r.letters(true)
	if len(all) != 4 || slices.Contains(replayed, false) {
		t.Errorf("%q, %v", keysOf(all), replayed)
	}
}

// TestDeadLettersReplayUnknown checks that a letter which cannot be replayed stays in the topic, and that the error
// gives the reason.
func TestDeadLettersReplayUnknown(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	if err := r.log.Append(t.Context(), "site_1", 0, []byte("junk")); err != nil {
		t.Fatal(err)
	}
	r.sink(nil, nil)
	r.awaitCommitted(1)
	list, _ := r.letters(false)
	if len(list) != 1 {
		t.Fatalf("%d dead letters, want 1", len(list))
	}
	d, err := deadletter.Open(r.brokers, eventlog.Access{}, r.topic)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if err := d.Replay(t.Context(), list[0]); !errors.Is(err, insights.ErrMessage) {
		t.Errorf("the replay of junk: %v", err)
	}
	if err := d.Replay(t.Context(), &deadletter.Letter{Sum: "other"}); err == nil {
		t.Error("a letter that does not exist was replayed")
	}
	if left, _ := r.letters(false); len(left) != 1 {
		t.Errorf("%q, want the one letter", keysOf(left))
	}
}

// TestDeadLettersSmallTopic checks a dead-letter topic that accepts only small messages. Letters are sent one by one. A
// letter that is still too large is sent without its message. Its replay then returns an error with this reason.
func TestDeadLettersSmallTopic(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	client := &kafka.Client{Addr: kafka.TCP(r.brokers...), Timeout: eventually.Patience}
	made, err := client.CreateTopics(t.Context(), &kafka.CreateTopicsRequest{Topics: []kafka.TopicConfig{{
		Topic: r.topic + deadletter.Suffix, NumPartitions: 1, ReplicationFactor: 1,
		ConfigEntries: []kafka.ConfigEntry{{ConfigName: "max.message.bytes", ConfigValue: "3000"}},
	}}})
	if err == nil {
		err = made.Errors[r.topic+deadletter.Suffix]
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, message := range []string{"a", "b", "c", "d", "e", strings.Repeat("long", 1000)} {
		if err := r.log.Append(t.Context(), "site_1", 0, []byte(message+strings.Repeat("-", 600))); err != nil {
			t.Fatal(err)
		}
	}
	r.sink(nil, nil)
	r.awaitCommitted(1)
	list, _ := r.letters(true)
	if len(list) != 6 {
		t.Fatalf("%d dead letters, want 6", len(list))
	}
	for i, letter := range list {
		if (letter.Message == nil) != (i == 5) {
			t.Errorf("letter %d has a message of %d bytes", i, len(letter.Message))
		}
	}
	d, err := deadletter.Open(r.brokers, eventlog.Access{}, r.topic)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if err := d.Replay(t.Context(), list[5]); err == nil || !strings.Contains(err.Error(), "offset 5 of partition 0") {
		t.Errorf("the replay of a letter without its message: %v", err)
	}
}

// TestDeadLettersOfBrokenEvents checks a message whose header is correct and whose events cannot be decoded. The whole
// message must become one dead letter. The site's balance must count all events that the header names.
func TestDeadLettersOfBrokenEvents(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	var e insights.Encoder
	e.Begin(insights.MessageID{1}, "site_1", intaketest.Client.Now.UnixMilli())
	message := e.Bytes()
	message[len(message)-3] |= 2 // the header says that two events follow, but the bytes after it are not events
	if err := r.log.Append(t.Context(), "site_1", 0, append(message, 1, 0xff, 1, 0xff)); err != nil {
		t.Fatal(err)
	}
	s := r.sink(nil, nil)
	r.awaitCommitted(1)
	if b := s.cfg.Balances.Balance("site_1"); b.Stored != 0 || b.DeadLettered != 2 {
		t.Errorf("%+v", b)
	}
	if list, _ := r.letters(true); len(list) != 1 || list[0].Index != deadletter.WholeMessage || list[0].Site != "site_1" || !bytes.HasSuffix(list[0].Message, []byte{1, 0xff, 1, 0xff}) {
		t.Errorf("%+v", list)
	}
}

// TestBalancesNeverFall checks that the events of a cut are counted by their outcome, and that no counter decreases
// while a cut is counted.
func TestBalancesNeverFall(t *testing.T) {
	t.Parallel()
	const perMessage, messages = 100, 5000
	c := &cut{erased: map[int]bool{}}
	for i := range messages {
		c.messages = append(c.messages, cutMessage{
			message: insights.Message{Site: "s", Count: perMessage}, at: insights.Position{Offset: uint64(i)}, first: i * perMessage,
		})
	}
	for row := range perMessage * messages {
		switch {
		case row%3 == 0:
			c.erased[row] = true
		case row%100 == 1:
			c.refused = append(c.refused, refusedRow{row: row})
		}
	}
	s := &Sink{cfg: Config{Balances: balance.NewSites(prometheus.NewRegistry())}}
	counted := make(chan struct{})
	go func() {
		defer close(counted)
		s.countBalances(c)
	}()
	for last, end := uint64(0), false; !end; {
		select {
		case <-counted:
			end = true
		default:
		}
		b := s.cfg.Balances.Balance("s")
		if b.Stored < last {
			t.Fatalf("%d stored events after %d", b.Stored, last)
		}
		last = b.Stored
	}
	refused := uint64(len(c.refused))
	if b, erased := s.cfg.Balances.Balance("s"), uint64(len(c.erased)); b.Stored != perMessage*messages-erased-refused || b.Erased != erased || b.DeadLettered != refused {
		t.Errorf("%+v; %d erased, %d refused", b, erased, refused)
	}
}

// TestSinkStalled checks a store whose state prevents inserts. The metrics must show that the partition is stalled, and
// the sink must write no dead letter. After the store is repaired, the sink must continue.
func TestSinkStalled(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	s := r.sink(nil, nil)
	eventually.True(t, "a partition without messages to show no stall", func() bool {
		return testutil.CollectAndCount(s.metrics.stalled) == 1 && testutil.ToFloat64(s.metrics.stalled) == 0
	})
	r.accept(numbered(0, 5))
	r.awaitStored(5)
	if err := r.conn.Exec(t.Context(), "RENAME TABLE events TO gone"); err != nil {
		t.Fatal(err)
	}
	r.accept(numbered(5, 5))
	eventually.True(t, "errors of the store", func() bool {
		return testutil.ToFloat64(s.metrics.storeErrors.WithLabelValues("schema")) > 2
	})
	eventually.True(t, "the stall to show", func() bool { return testutil.ToFloat64(s.metrics.stalled) > 0.01 })
	if err := r.conn.Exec(t.Context(), "RENAME TABLE gone TO events"); err != nil {
		t.Fatal(err)
	}
	r.awaitStored(10)
	eventually.True(t, "the stall to end", func() bool { return testutil.ToFloat64(s.metrics.stalled) == 0 })
	if list, _ := r.letters(true); len(list) != 0 {
		t.Errorf("%q were put aside", keysOf(list))
	}
}
