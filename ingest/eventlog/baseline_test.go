package eventlog

import (
	"context"
	"errors"
	"maps"
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
	"github.com/octavo-docs/octavo/ingest/ingesttest"
	"github.com/octavo-docs/octavo/schema/insights"
)

// message returns a message of this baseline.
func message() []byte {
	var e insights.Encoder
	e.Begin(insights.MessageID{1}, "site", 0)
	return slices.Clone(e.Bytes())
}

// otherMessage returns a message that was written before baselines.
func otherMessage() []byte {
	m := message()
	m[1] = 'E'
	return m
}

// madeByHand creates a topic as an operator does, with messages in its last partition.
func madeByHand(t *testing.T, brokers []string, name string, partitions int, messages ...[]byte) *Topic {
	t.Helper()
	topic := NewTopic(brokers, Access{}, "test", eventually.Patience, name)
	t.Cleanup(topic.Close)
	res, err := topic.Client.CreateTopics(t.Context(), &kafka.CreateTopicsRequest{
		Topics: []kafka.TopicConfig{{Topic: name, NumPartitions: partitions, ReplicationFactor: 1}},
	})
	if err == nil {
		err = res.Errors[name]
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range messages {
		eventually.Succeeds(t, "a message", func() error {
			res, err := topic.Client.Produce(t.Context(), &kafka.ProduceRequest{
				Topic: name, Partition: partitions - 1, RequiredAcks: kafka.RequireAll,
				Records: kafka.NewRecordReader(kafka.Record{Value: kafka.NewBytes(m)}),
			})
			if err == nil {
				err = res.Error
			}
			return err
		})
	}
	return topic
}

// TestAnotherBaseline: a topic whose oldest messages have another baseline is refused in one sentence, and nothing in
// it changes. One without messages, or with bytes that are not ours, is used.
func TestAnotherBaseline(t *testing.T) {
	t.Parallel()
	brokers := enginetest.Kafka(t)
	for name, c := range map[string]struct {
		messages [][]byte
		refused  bool
	}{
		"empty":            {nil, false},
		"ours":             {[][]byte{message()}, false},
		"somebody's":       {[][]byte{[]byte("OK, this is a text of somebody else")}, false},
		"before baselines": {[][]byte{otherMessage(), otherMessage()}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const partitions = 3
			topic := madeByHand(t, brokers, enginetest.Topic(t, 1)+"-hand", partitions, c.messages...)
			t.Cleanup(func() {
				if _, err := topic.Client.DeleteTopics(context.Background(), &kafka.DeleteTopicsRequest{Topics: []string{topic.Name}}); err != nil {
					t.Error(err)
				}
			})
			state := func() (ends []int64, settings map[string]string) {
				t.Helper()
				eventually.Succeeds(t, "the partitions' leaders", func() (err error) { // a new topic has none for a moment
					if ends, err = topic.Ends(t.Context(), partitions); err == nil {
						settings, err = topic.settings(t.Context(), timestampType, retentionTime)
					}
					return err
				})
				return ends, settings
			}
			ends, settings := state()
			l, err := New(Config{Brokers: brokers, Topic: topic.Name, Logger: ingesttest.Logger(t)}, NewMetrics(prometheus.NewRegistry()))
			if err != nil {
				t.Fatal(err)
			}
			err = l.Start(t.Context())
			if !c.refused {
				if err == nil {
					err = l.Append(t.Context(), "site", 0, message())
				}
				if err = errors.Join(err, l.Stop(t.Context())); err != nil {
					t.Error(err)
				}
				return
			}
			if !errors.Is(err, ErrBaseline) || !isPermanent(err) || !strings.Contains(err.Error(), topic.Name) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %v", err)
			}
			if e, s := state(); !slices.Equal(e, ends) || !maps.Equal(s, settings) {
				t.Errorf("the topic has the ends %v and %v after %v and %v", e, s, ends, settings)
			}
		})
	}
}

// TestBaselineOfAPartIsEnough: a log takes events while some of its partitions cannot be looked at, or it may not read
// them.
func TestBaselineOfAPartIsEnough(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		code   kafka.Error
		failed func(partition int32) bool
	}{
		"a broker is away":     {kafka.LeaderNotAvailable, func(partition int32) bool { return partition != 1 }},
		"no right to read":     {kafka.TopicAuthorizationFailed, func(int32) bool { return true }},
		"all partitions alike": {kafka.LeaderNotAvailable, func(int32) bool { return true }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			broker := brokertest.Start(t, brokertest.Options{})
			topic := madeByHand(t, broker.Addresses(), "events", 3, message())
			broker.On(kmsg.Fetch, func(r kmsg.Request) (kmsg.Response, error) {
				asked := r.(*kmsg.FetchRequest).Topics[0]
				if !c.failed(asked.Partitions[0].Partition) {
					return nil, nil
				}
				res := r.ResponseKind().(*kmsg.FetchResponse)
				found, partition := kmsg.NewFetchResponseTopic(), kmsg.NewFetchResponseTopicPartition()
				partition.Partition, partition.ErrorCode = asked.Partitions[0].Partition, int16(c.code)
				found.Topic, found.Partitions = asked.Topic, append(found.Partitions, partition)
				res.Topics = append(res.Topics, found)
				return res, nil
			})
			err := topic.CheckBaseline(t.Context(), 3)
			if want := name == "all partitions alike"; errors.Is(err, c.code) != want || !want && err != nil {
				t.Errorf("got %v", err)
			}
		})
	}
}

// TestAnotherBaselineComesLate: a log that started without brokers does not use a topic of another baseline, says why,
// and uses the topic once an operator has made it anew.
func TestAnotherBaselineComesLate(t *testing.T) {
	t.Parallel()
	address := enginetest.Address(t)
	l := newTestLog(t, []string{address}, func(c *Config) {
		impatient(c)
		c.Partitions = 2
	})
	var there atomic.Bool // the message; until then the log neither makes the topic nor looks at it
	early := errors.New("too early for the log")
	broker := brokertest.Start(t, brokertest.Options{Address: address, Answers: map[kmsg.Key]brokertest.Answer{
		kmsg.CreateTopics: func(r kmsg.Request) (kmsg.Response, error) {
			if r.(*kmsg.CreateTopicsRequest).Topics[0].NumPartitions == 2 && !there.Load() {
				return nil, early
			}
			return nil, nil
		},
		kmsg.Fetch: func(kmsg.Request) (kmsg.Response, error) {
			if !there.Load() {
				return nil, early
			}
			return nil, nil
		},
	}})
	topic := madeByHand(t, broker.Addresses(), "events", 1, otherMessage())
	there.Store(true)
	eventually.True(t, "the refusal", func() bool { return errors.Is(l.Ready(t.Context()), ErrBaseline) })
	if err := l.Append(t.Context(), "site", 0, message()); ingesttest.ReasonOf(err) != insights.LogUnavailable {
		t.Errorf("it takes a message: %v", err)
	}
	if ends, err := topic.Ends(t.Context(), 1); err != nil || ends[0] != 1 {
		t.Errorf("the topic has %v messages, %v", ends, err)
	}
	if _, err := topic.Client.DeleteTopics(t.Context(), &kafka.DeleteTopicsRequest{Topics: []string{"events"}}); err != nil {
		t.Fatal(err)
	}
	eventually.Succeeds(t, "the new topic", func() error { return l.Append(t.Context(), "site", 1, message()) })
}
