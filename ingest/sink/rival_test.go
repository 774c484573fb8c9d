package sink

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/segmentio/kafka-go"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest/eventually"
	"github.com/octavo-docs/octavo/ingest/eventlog"
	"github.com/octavo-docs/octavo/ingest/eventstore"
	"github.com/octavo-docs/octavo/ingest/ingesttest"
	"github.com/octavo-docs/octavo/ingest/intake/intaketest"
	"github.com/octavo-docs/octavo/schema/insights"
)

// heldStore pauses a sink before an insert, or after the sink has read the stored rows, as SIGSTOP would. When the sink
// continues, it sends the insert, even if a long time has passed.
type heldStore struct {
	eventstore.Store
	insert, ask chan struct{} // an insert or an answer waits until its channel is closed; nil does not wait
	ages        chan struct{} // receives a value when a call waits
	woke        sync.WaitGroup

	mu     sync.Mutex
	tokens []string
}

func (h *heldStore) wait(gate chan struct{}) {
	if gate != nil {
		select {
		case h.ages <- struct{}{}:
		default:
		}
		<-gate
	}
}

func (h *heldStore) Insert(ctx context.Context, rows *insights.Batch, token string) error {
	h.mu.Lock()
	h.tokens = append(h.tokens, token)
	h.mu.Unlock()
	h.wait(h.insert)
	if h.insert != nil {
		defer h.woke.Done()
		ctx = context.WithoutCancel(ctx)
	}
	return h.Store.Insert(ctx, rows, token)
}

func (h *heldStore) LastStored(ctx context.Context, partition uint16, from, to uint64) (uint64, bool, error) {
	last, found, err := h.Store.LastStored(ctx, partition, from, to)
	h.wait(h.ask)
	return last, found, err
}

func (h *heldStore) inserted() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]string(nil), h.tokens...)
}

// expel makes the broker remove all members of the group, as if their sessions had timed out.
func (r *rig) expel() {
	r.t.Helper()
	client := &kafka.Client{Addr: kafka.TCP(r.brokers...), Timeout: eventually.Patience}
	groups, err := client.DescribeGroups(r.t.Context(), &kafka.DescribeGroupsRequest{GroupIDs: []string{r.topic + "-sink"}})
	if err != nil {
		r.t.Fatal(err)
	}
	for _, m := range groups.Groups[0].Members {
		_, err := client.LeaveGroup(r.t.Context(), &kafka.LeaveGroupRequest{
			GroupID: r.topic + "-sink", Members: []kafka.LeaveGroupRequestMember{{ID: m.MemberID}},
		})
		if err != nil {
			r.t.Fatal(err)
		}
	}
}

// progress returns the group's progress in partition 0.
func (r *rig) progress(s *Sink) progress {
	r.t.Helper()
	list, err := groupProgress(r.t.Context(), s.log, s.cfg.Group, []int{0})
	if err != nil {
		r.t.Fatal(err)
	}
	return list[0]
}

// TestSinkRivalWakes pauses a sink after it has announced a cut and before its insert. Another sink takes over the
// partition, stores the same rows, and continues with later messages. Then the first sink continues and inserts. No row
// may be stored twice.
func TestSinkRivalWakes(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	const each = 40
	for i := range 10 {
		r.accept(numbered(i*each, each))
	}
	rival := &heldStore{Store: r.store, insert: make(chan struct{}), ages: make(chan struct{}, 1)}
	rival.woke.Add(1)
	first := r.sink(rival, nil)
	<-rival.ages
	if p := r.progress(first); p.offset != 0 || p.intent == 0 {
		t.Fatalf("before the insert the group has %+v", p)
	}
	r.expel()
	// The second sink is configured for smaller batches. So if it ignored the announced cut, it would make other cuts
	// than the first sink.
	heir := &heldStore{Store: r.store}
	second := r.sink(heir, func(c *Config) { c.BatchRows, c.FetchBytes = each, 1 })
	r.awaitStored(10 * each)
	r.accept(numbered(10*each, each))
	r.awaitStored(11 * each)
	close(rival.insert)
	rival.woke.Wait()
	r.stop(first)
	r.accept(numbered(11*each, each))
	r.awaitStored(12 * each)
	a, b := rival.inserted(), heir.inserted()
	if len(a) == 0 || len(b) == 0 || a[0] != b[0] {
		t.Errorf("the paused sink inserted under %q, its heir under %q", a, b)
	}
	if n := testutil.ToFloat64(second.metrics.stored); n < 11*each {
		t.Errorf("the heir stored %v events", n)
	}
}

// TestSinkRivalCannotBegin pauses a sink before it announces a cut. When the sink continues, another sink owns the
// partition, so the broker refuses the announcement. The first sink must insert no rows, although it has read that none
// are stored.
func TestSinkRivalCannotBegin(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	r.accept(numbered(0, 50))
	rival := &heldStore{Store: r.store, ask: make(chan struct{}), ages: make(chan struct{}, 1)}
	first := r.sink(rival, nil)
	<-rival.ages
	r.expel()
	second := r.sink(nil, nil)
	r.awaitStored(50)
	r.awaitCommitted(1)
	before := r.progress(second)
	close(rival.ask)
	r.stop(first)
	if list := rival.inserted(); len(list) != 0 {
		t.Errorf("the sink inserted under %q", list)
	}
	if after := r.progress(second); after != before {
		t.Errorf("the group has %+v; before the sink woke it had %+v", after, before)
	}
}

// mustCommit commits progress in a topic that may be new. It retries, because Apache Kafka's group coordinator may not
// know a new topic yet, even if the client has read its partitions.
func mustCommit(t *testing.T, s *Sink, who member, list map[int]progress) {
	t.Helper()
	eventually.Succeeds(t, "the commit", func() error { return s.commit(t.Context(), who, list) })
}

// TestSinkCommitOfEndedGeneration checks that the broker refuses all commits of a generation that has ended, including
// commits that announce a cut.
func TestSinkCommitOfEndedGeneration(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	r.accept(numbered(0, 1))
	s := newTestSink(t, Config{Brokers: r.brokers, Topic: r.topic, Group: r.topic + "-sink", Store: r.store, Logger: ingesttest.Logger(t)})
	join := func() (member, func()) {
		t.Helper()
		group, err := kafka.NewConsumerGroup(s.groupConfig())
		if err != nil {
			t.Fatal(err)
		}
		generation, err := group.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return member{generation.ID, generation.MemberID}, func() { _ = group.Close() }
	}
	list := map[int]progress{0: {offset: 0, known: true, intent: 1, tail: 7, hasTail: true}}
	old, leave := join()
	mustCommit(t, s, old, list)
	if p := r.progress(s); p != list[0] {
		t.Errorf("the group has %+v, want %+v", p, list[0])
	}
	leave()
	now, leave := join()
	defer leave()
	if err := s.commit(t.Context(), old, map[int]progress{0: {offset: 0, intent: 99}}); !errors.Is(err, errPartitionsLost) {
		t.Errorf("the commit of an ended generation: %v", err)
	}
	if p := r.progress(s); p != list[0] {
		t.Errorf("the group has %+v, want %+v", p, list[0])
	}
	mustCommit(t, s, now, list)
}

// TestSinkDiesBeforeInsert kills a sink after it has announced a cut and before its insert. The next sink must first
// store exactly the announced cut. With its configuration alone, the next sink would make other cuts.
func TestSinkDiesBeforeInsert(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	for i := range 8 {
		r.accept(numbered(i*10, 10))
	}
	killed := make(chan struct{})
	var once sync.Once
	dying := &faultyStore{Store: r.store, before: func(int) error {
		once.Do(func() { close(killed) })
		return errors.New("killed")
	}}
	first := r.sink(dying, nil)
	<-killed
	r.kill(first)
	p := r.progress(first)
	if p.intent < 1 {
		t.Fatalf("no intent: %+v", p)
	}
	for i := range 8 {
		r.accept(numbered(80+i*10, 10))
	}
	heir := &heldStore{Store: r.store}
	r.sink(heir, func(c *Config) { c.BatchRows, c.FetchBytes = 1, 1 })
	r.awaitStored(160)
	r.awaitCommitted(1)
	want := "octavo/" + r.topic + "/0/0-" + strconv.FormatInt(p.intent, 10) + "/"
	if list := heir.inserted(); !strings.HasPrefix(list[0], want) || len(list) < 2 {
		t.Errorf("inserts under the tokens %q, want the first to begin with %q", list, want)
	}
}

// TestSinkTopicMadeAnew deletes and recreates the log's topic with the same name. The new events have the positions of
// stored events, and ClickHouse has the tokens of inserts with the same offsets. All new events must be stored
// nevertheless.
func TestSinkTopicMadeAnew(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	client := &kafka.Client{Addr: kafka.TCP(r.brokers...), Timeout: eventually.Patience}
	for round := range 3 {
		first := r.sink(nil, nil)
		for i := range 5 {
			r.accept(numbered(round*25+i*5, 5))
		}
		r.awaitStored((round + 1) * 25)
		r.awaitCommitted(1)
		had := r.progress(first)
		r.stop(first)
		if err := r.log.Stop(t.Context()); err != nil { // a running log would create the topic again
			t.Fatal(err)
		}
		res, err := client.DeleteTopics(t.Context(), &kafka.DeleteTopicsRequest{Topics: []string{r.topic}})
		if err == nil {
			err = res.Errors[r.topic]
		}
		if err != nil {
			t.Fatal(err)
		}
		eventually.True(t, "the topic to be gone", func() bool {
			_, err := (&eventlog.Topic{Name: r.topic, Client: client}).Partitions(t.Context())
			return errors.Is(err, kafka.UnknownTopicOrPartition)
		})
		r.log = newTestLog(t, r.brokers, func(c *eventlog.Config) { c.Topic, c.Partitions = r.topic, 1 })
		r.intake = intaketest.New(t, r.log)
		// A broker may delete the group's offsets together with the topic. If a broker does not delete them, they must
		// not make the sink skip the beginning of the new topic.
		mustCommit(t, first, member{generation: -1}, map[int]progress{0: had})
	}
	r.sink(nil, nil)
	// The new topic gets as many messages as the old topic, so the sink cannot notice the new topic by a lower end.
	for i := range 6 {
		r.accept(numbered(75+i*5, 5))
	}
	r.awaitStored(105)
}
