package eventlog

import (
	"encoding/binary"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest"
	"github.com/octavo-docs/octavo/cmd/engine/enginetest/brokertest"
	"github.com/octavo-docs/octavo/cmd/engine/enginetest/eventually"
	"github.com/octavo-docs/octavo/ingest/ingesttest"
	"github.com/octavo-docs/octavo/schema/insights"
)

// produced records the batches that a broker receives.
type produced struct {
	mu   sync.Mutex
	list [][]byte
	// answer decides what the broker does with the nth batch. For nil, the broker appends the batch. For a kafka.Error,
	// it answers with this error code. For any other error, it closes the connection.
	answer func(n int) any
}

// sentTo records the batches that a broker receives. The function `answer` decides what the broker does with each batch
// (see produced).
func sentTo(broker *brokertest.Broker, answer func(n int) any) *produced {
	p := &produced{answer: answer}
	broker.On(kmsg.Produce, func(r kmsg.Request) (kmsg.Response, error) {
		req := r.(*kmsg.ProduceRequest)
		p.mu.Lock()
		defer p.mu.Unlock()
		p.list = append(p.list, slices.Clone(req.Topics[0].Partitions[0].Records))
		switch a := p.answer(len(p.list)).(type) {
		case kafka.Error:
			res := req.ResponseKind().(*kmsg.ProduceResponse)
			topic := kmsg.NewProduceResponseTopic()
			topic.Topic = req.Topics[0].Topic
			partition := kmsg.NewProduceResponseTopicPartition()
			partition.Partition, partition.ErrorCode = req.Topics[0].Partitions[0].Partition, int16(a)
			topic.Partitions = append(topic.Partitions, partition)
			res.Topics = append(res.Topics, topic)
			return res, nil
		case error:
			return nil, a
		}
		return nil, nil
	})
	return p
}

func (p *produced) batches() [][]byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.list)
}

// fromOf returns the producer of a record batch.
func fromOf(records []byte) producer {
	return producer{
		id:    int64(binary.BigEndian.Uint64(records[atProducer-4:])),
		epoch: int16(binary.BigEndian.Uint16(records[atEpoch-4:])), next: int32(binary.BigEndian.Uint32(records[atSequence-4:])),
	}
}

// resend sends a batch again, like a request that was delayed.
func resend(t *testing.T, l *Log, records []byte) error {
	t.Helper()
	b := newBatch(nil, time.Now())
	b.buf = append(binary.BigEndian.AppendUint32(nil, uint32(len(records))), records...)
	a := l.attempt(t.Context(), l.partitions[0], b, time.Now().Add(eventually.Patience), true)
	return a.err
}

var errBroken = errors.New("the connection breaks")

// onePartition configures one partition, and timeouts that are longer than the test.
func onePartition(c *Config) {
	c.Partitions, c.ProduceTimeout, c.AppendTimeout = 1, eventually.Patience, eventually.Patience
}

// TestLogIsAppendedOnce sends batches several times, as if requests had been delayed. The broker must append each batch
// once. The test runs with the embedded broker or with Apache Kafka.
func TestLogIsAppendedOnce(t *testing.T) {
	t.Parallel()
	brokers, topic := enginetest.Kafka(t), enginetest.Topic(t, 1)
	l := newTestLog(t, brokers, func(c *Config) { onePartition(c); c.Topic = topic })
	var from producer
	// Apache Kafka answers with the error "load in progress" while it allocates its first producer ids.
	eventually.Succeeds(t, "a producer id", func() error {
		id, epoch, err := newProducerID(t.Context(), l.topic.Client)
		from = producer{id: id, epoch: epoch}
		return err
	})
	var sent [][]byte
	for _, text := range []string{"first", "second", "third"} {
		b := newBatch(nil, time.Now())
		b.add("site", []byte(text))
		b.seal(from)
		from.next++
		sent = append(sent, slices.Clone(b.buf[4:]))
	}
	for i, n := range []int{0, 0, 1, 0, 1, 2, 1, 2} {
		if err := resend(t, l, sent[n]); err != nil {
			t.Errorf("produce %d, of batch %d: %v", i, n, err)
		}
	}
	if got, want := ingesttest.ReadTopic(t, brokers, topic, 0), []string{"site=first", "site=second", "site=third"}; !slices.Equal(got, want) {
		t.Errorf("the log has %q, want %q", got, want)
	}
}

// TestLogCountsSequences checks that the batches of a partition have the same producer id and consecutive sequence
// numbers. A batch that is sent again must have the same number. After the largest number, the partition must get a new
// producer id.
func TestLogCountsSequences(t *testing.T) {
	t.Parallel()
	broker := brokertest.Start(t, brokertest.Options{})
	l := newTestLog(t, broker.Addresses(), onePartition)
	sent := sentTo(broker, func(n int) any {
		if n == 2 {
			return errBroken
		}
		return nil
	})
	for range 4 {
		if err := l.Append(t.Context(), "site", 0, []byte("a")); err != nil {
			t.Fatal(err)
		}
	}
	list := sent.batches()
	if len(list) != 5 {
		t.Fatalf("%d produces, want 5", len(list))
	}
	for i, want := range []int32{0, 1, 1, 2, 3} {
		if from := fromOf(list[i]); from.id < 0 || from.id != fromOf(list[0]).id || from.epoch != 0 || from.next != want {
			t.Errorf("batch %d is from %+v, want sequence %d", i, from, want)
		}
	}
	if got := ingesttest.ReadTopic(t, broker.Addresses(), "events", 0); len(got) != 4 {
		t.Errorf("the log has %q", got)
	}
	l.partitions[0].from.next = 1<<31 - 1 // safe, because the partition's worker waits for a message
	if err := l.Append(t.Context(), "site", 0, []byte("b")); err != nil {
		t.Fatal(err)
	}
	if from := fromOf(sent.batches()[5]); from.id == fromOf(list[0]).id || from.next != 0 {
		t.Errorf("at the end of its sequences, the next batch is from %+v", from)
	}
}

// TestLogGivesUpAProducer makes the log abandon a batch that the broker may still append. The next batch must have a
// new producer id, so that the broker appends both batches.
func TestLogGivesUpAProducer(t *testing.T) {
	t.Parallel()
	broker := brokertest.Start(t, brokertest.Options{})
	// Every request with the second batch fails until the log abandons the batch.
	l := newTestLog(t, broker.Addresses(), func(c *Config) { c.Partitions, c.AppendTimeout = 1, time.Second })
	gone := false
	sent := sentTo(broker, func(n int) any {
		if n > 1 && !gone {
			return errBroken
		}
		return nil
	})
	put := func(text string) error { return l.Append(t.Context(), "site", 0, []byte(text)) }
	if err := put("before"); err != nil {
		t.Fatal(err)
	}
	if err := put("given up"); ingesttest.ReasonOf(err) != insights.LogUnavailable {
		t.Fatalf("a batch with an unknown outcome: %v", err)
	}
	sent.mu.Lock()
	gone = true
	late := sent.list[1]
	sent.mu.Unlock()
	if err := put("after"); err != nil {
		t.Fatal(err)
	}
	if err := resend(t, l, late); err != nil { // the broker gets this batch after the log has abandoned it
		t.Error(err)
	}
	if err := put("last"); err != nil {
		t.Fatal(err)
	}
	list := sent.batches()
	if a, b := fromOf(late), fromOf(list[len(list)-1]); a.id == b.id || a.next != 1 || b.next != 1 {
		t.Errorf("the batch that was given up is from %+v, the last one from %+v", a, b)
	}
	want := []string{"site=before", "site=after", "site=given up", "site=last"}
	if got := ingesttest.ReadTopic(t, broker.Addresses(), "events", 0); !slices.Equal(got, want) {
		t.Errorf("the log has %q, want %q", got, want)
	}
}

// TestLogLosesItsProducer checks error codes which mean that the broker does not know the log's producer id, or expects
// another sequence number. The log must send the batch again with a new id, unless the broker may have appended the
// batch.
func TestLogLosesItsProducer(t *testing.T) {
	t.Parallel()
	all, withoutSecond := []string{"site=first", "site=second", "site=third"}, []string{"site=first", "site=third"}
	for name, c := range map[string]struct {
		answers []any // the broker's answers to the requests with the second batch
		refused bool
		log     []string
	}{
		"out of order":           {[]any{kafka.OutOfOrderSequenceNumber}, false, all},
		"unknown":                {[]any{kafka.UnknownProducerId}, false, all},
		"old epoch":              {[]any{kafka.InvalidProducerEpoch}, false, all},
		"duplicate of nothing":   {[]any{kafka.DuplicateSequenceNumber}, false, all},
		"moved, then no more":    {[]any{kafka.NotLeaderForPartition, kafka.UnknownProducerId}, false, all},
		"in doubt":               {[]any{errBroken, kafka.OutOfOrderSequenceNumber}, true, withoutSecond},
		"in doubt, by an answer": {[]any{kafka.RequestTimedOut, kafka.UnknownProducerId}, true, withoutSecond},
		"in doubt, a duplicate":  {[]any{errBroken, kafka.DuplicateSequenceNumber}, false, withoutSecond},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			broker := brokertest.Start(t, brokertest.Options{})
			l := newTestLog(t, broker.Addresses(), onePartition)
			sentTo(broker, func(n int) any {
				if n >= 2 && n < 2+len(c.answers) {
					return c.answers[n-2]
				}
				return nil
			})
			for i, text := range []string{"first", "second", "third"} {
				err := l.Append(t.Context(), "site", 0, []byte(text))
				if (err != nil) != (i == 1 && c.refused) || err != nil && ingesttest.ReasonOf(err) != insights.LogUnavailable {
					t.Errorf("%s: %v", text, err)
				}
				if name == "in doubt, a duplicate" && i == 1 {
					// A broker that returns DuplicateSequenceNumber has usually appended the batch. So the log has
					// increased its next sequence number. The test's broker has not appended the batch, and expects the
					// old number. So the test resets the log's number.
					l.partitions[0].from.next = 1
				}
			}
			if got := ingesttest.ReadTopic(t, broker.Addresses(), "events", 0); !slices.Equal(got, c.log) {
				t.Errorf("the log has %q, want %q", got, c.log)
			}
			want := 1.0
			if name == "in doubt, a duplicate" {
				want = 0
			}
			if n := testutil.ToFloat64(l.metrics.producersLost); n != want {
				t.Errorf("%v lost producers counted, want %v", n, want)
			}
		})
	}
}

// TestLogWithoutProducerIDs checks that the log can append events to a broker that issues no producer ids.
func TestLogWithoutProducerIDs(t *testing.T) {
	t.Parallel()
	broker := brokertest.Start(t, brokertest.Options{})
	broker.On(kmsg.InitProducerID, func(r kmsg.Request) (kmsg.Response, error) {
		res := r.ResponseKind().(*kmsg.InitProducerIDResponse)
		res.ErrorCode = int16(kafka.ClusterAuthorizationFailed)
		return res, nil
	})
	l := newTestLog(t, broker.Addresses(), onePartition)
	if n := testutil.ToFloat64(l.metrics.unsafe.WithLabelValues(idempotence)); n != 0 {
		t.Errorf("idempotence is unsafe before the log asked for a producer id: %v", n)
	}
	sent := sentTo(broker, func(int) any { return nil })
	if err := l.Append(t.Context(), "site", 0, []byte("a")); err != nil {
		t.Fatal(err)
	}
	if from := fromOf(sent.batches()[0]); from != noProducer {
		t.Errorf("the batch is from %+v", from)
	}
	if n := testutil.ToFloat64(l.metrics.unsafe.WithLabelValues(idempotence)); n != 1 {
		t.Errorf("octavo_log_settings_unsafe is %v", n)
	}
}

// TestLogAppendsAgainPlainly checks that AppendAgain sends its message in a separate batch without a producer id. The
// sequence numbers of the other batches must be consecutive.
func TestLogAppendsAgainPlainly(t *testing.T) {
	t.Parallel()
	broker := brokertest.Start(t, brokertest.Options{})
	l := newTestLog(t, broker.Addresses(), onePartition)
	sent := sentTo(broker, func(int) any { return nil })
	for _, again := range []bool{false, true, false} {
		add := l.Append
		if again {
			add = l.AppendAgain
		}
		if err := add(t.Context(), "site", 0, []byte("a")); err != nil {
			t.Fatal(err)
		}
	}
	list := sent.batches()
	if a, b, c := fromOf(list[0]), fromOf(list[1]), fromOf(list[2]); b != noProducer || a.id < 0 || c.id != a.id || c.next != 1 {
		t.Errorf("the batches are from %+v, %+v, %+v", a, b, c)
	}
	p := &partition{log: l}
	for _, plain := range []bool{false, true, true, false} {
		p.add("site", []byte("a"), plain)
	}
	if len(p.pending) != 3 {
		t.Errorf("%d batches wait, want 3", len(p.pending))
	}
}

// TestLogFollowsItsTopic adds a partition to the log's topic, and later deletes the topic. Without a restart, the log
// must use the new partition, and create the topic again.
func TestLogFollowsItsTopic(t *testing.T) {
	t.Parallel()
	brokers, topic := enginetest.Kafka(t), enginetest.Topic(t, 1)
	l := newTestLog(t, brokers, func(c *Config) {
		c.Topic, c.Partitions, c.WatchWait = topic, 3, time.Millisecond
		c.AppendTimeout = 2 * eventually.Patience
	})
	client := &kafka.Client{Addr: kafka.TCP(brokers...), Timeout: eventually.Patience}
	put := func(partition int) error { return l.Append(t.Context(), "site", partition, []byte("a")) }
	if err := put(0); err != nil {
		t.Fatal(err)
	}
	if err := put(1); err == nil {
		t.Error("a message went to a partition that does not exist")
	}
	more, err := client.CreatePartitions(t.Context(), &kafka.CreatePartitionsRequest{Topics: []kafka.TopicPartitionsConfig{{Name: topic, Count: 2}}})
	if err == nil {
		err = more.Errors[topic]
	}
	if err != nil {
		t.Fatal(err)
	}
	eventually.Succeeds(t, "the new partition", func() error { return put(1) })
	gone, err := client.DeleteTopics(t.Context(), &kafka.DeleteTopicsRequest{Topics: []string{topic}})
	if err == nil {
		err = gone.Errors[topic]
	}
	if err != nil {
		t.Fatal(err)
	}
	eventually.Succeeds(t, "the topic that the log created again", func() error { return put(2) })
	eventually.Succeeds(t, "its first partition", func() error { return put(0) })
	if _, n, err := l.topic.Offsets(t.Context(), 0); err != nil || n != 1 {
		t.Errorf("the new topic has %d messages in its first partition, want 1; %v", n, err)
	}
}
