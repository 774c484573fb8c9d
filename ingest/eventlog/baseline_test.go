package eventlog

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
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

// otherMessage returns a message in the format that was used before messages had a baseline.
func otherMessage() []byte {
	m := message()
	m[1] = 'E'
	return m
}

// createByHand creates a topic without the log, as an operator may do. Its last partition has the given messages.
func createByHand(t *testing.T, brokers []string, name string, partitions int, messages ...[]byte) *Topic {
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

// TestAnotherBaseline checks that a log refuses a topic whose oldest messages have another baseline. The error must be
// one line, and the topic must not change. The log accepts a topic that is empty or has another program's messages.
func TestAnotherBaseline(t *testing.T) {
	t.Parallel()
	brokers := enginetest.Kafka(t)
	for name, c := range map[string]struct {
		messages [][]byte
		refused  bool
	}{
		"empty":            {nil, false},
		"ours":             {[][]byte{message()}, false},
		"another program":  {[][]byte{[]byte("OK, this is a text of another program")}, false},
		"before baselines": {[][]byte{otherMessage(), otherMessage()}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const partitions = 3
			topic := createByHand(t, brokers, enginetest.Topic(t, 1)+"-hand", partitions, c.messages...)
			t.Cleanup(func() {
				request := &kafka.DeleteTopicsRequest{Topics: []string{topic.Name}}
				if _, err := topic.Client.DeleteTopics(context.Background(), request); err != nil {
					t.Error(err)
				}
			})
			state := func() (ends []int64, settings map[string]string) {
				t.Helper()
				// A new topic's partitions have no leaders for a short time.
				eventually.Succeeds(t, "the partitions' leaders", func() (err error) {
					if ends, err = topic.Ends(t.Context(), partitions); err == nil {
						settings, err = topic.settings(t.Context(), timestampType, retentionTime)
					}
					return err
				})
				return ends, settings
			}
			ends, settings := state()
			cfg := Config{Brokers: brokers, Topic: topic.Name, Logger: ingesttest.Logger(t)}
			l, err := New(cfg, NewMetrics(prometheus.NewRegistry()))
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
			if !errors.Is(err, ErrBaseline) || !isPermanent(err) {
				t.Fatalf("got %v, want a permanent error about the baseline", err)
			}
			if text := err.Error(); !strings.Contains(text, topic.Name) || strings.Contains(text, "\n") {
				t.Errorf("got %q, want one line that names the topic", text)
			}
			if e, s := state(); !slices.Equal(e, ends) || !maps.Equal(s, settings) {
				t.Errorf("the topic changed: ends %v, settings %v; want ends %v, settings %v", e, s, ends, settings)
			}
		})
	}
}

// TestBaselineOfSomePartitions checks that CheckBaseline accepts a topic if some partitions do not answer. It also
// accepts a topic that it has no right to read.
func TestBaselineOfSomePartitions(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		code   kafka.Error
		failed func(partition int32) bool
	}{
		"a broker is down":   {kafka.LeaderNotAvailable, func(partition int32) bool { return partition != 1 }},
		"no right to read":   {kafka.TopicAuthorizationFailed, func(int32) bool { return true }},
		"no partition reads": {kafka.LeaderNotAvailable, func(int32) bool { return true }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			broker := brokertest.Start(t, brokertest.Options{})
			topic := createByHand(t, broker.Addresses(), "events", 3, message())
			broker.On(kmsg.Fetch, func(r kmsg.Request) (kmsg.Response, error) {
				requested := r.(*kmsg.FetchRequest).Topics[0]
				if !c.failed(requested.Partitions[0].Partition) {
					return nil, nil
				}
				res := r.ResponseKind().(*kmsg.FetchResponse)
				found, partition := kmsg.NewFetchResponseTopic(), kmsg.NewFetchResponseTopicPartition()
				partition.Partition, partition.ErrorCode = requested.Partitions[0].Partition, int16(c.code)
				found.Topic, found.Partitions = requested.Topic, append(found.Partitions, partition)
				res.Topics = append(res.Topics, found)
				return res, nil
			})
			err := topic.CheckBaseline(t.Context(), 3)
			if want := name == "no partition reads"; errors.Is(err, c.code) != want || !want && err != nil {
				t.Errorf("got %v, want an error: %v", err, want)
			}
		})
	}
}

// TestAnotherBaselineFoundLate starts a log, and then its broker, whose topic has another baseline. The log must not
// use this topic, and must log the reason. After an operator has deleted the topic and created it again, the log must
// use it.
func TestAnotherBaselineFoundLate(t *testing.T) {
	t.Parallel()
	address := enginetest.Address(t)
	l := newTestLog(t, []string{address}, func(c *Config) {
		impatient(c)
		c.Partitions = 2
	})
	var written atomic.Bool // until the message is written, the log can neither create nor read the topic
	early := errors.New("the message is not written yet")
	broker := brokertest.Start(t, brokertest.Options{Address: address, Answers: map[kmsg.Key]brokertest.Answer{
		kmsg.CreateTopics: func(r kmsg.Request) (kmsg.Response, error) {
			if r.(*kmsg.CreateTopicsRequest).Topics[0].NumPartitions == 2 && !written.Load() {
				return nil, early
			}
			return nil, nil
		},
		kmsg.Fetch: func(kmsg.Request) (kmsg.Response, error) {
			if !written.Load() {
				return nil, early
			}
			return nil, nil
		},
	}})
	topic := createByHand(t, broker.Addresses(), "events", 1, otherMessage())
	written.Store(true)
	eventually.True(t, "the refusal", func() bool { return errors.Is(l.Ready(t.Context()), ErrBaseline) })
	if err := l.Append(t.Context(), "site", 0, message()); ingesttest.ReasonOf(err) != insights.LogUnavailable {
		t.Errorf("Append returns %v, want %v", err, insights.LogUnavailable)
	}
	if ends, err := topic.Ends(t.Context(), 1); err != nil || ends[0] != 1 {
		t.Errorf("the partition ends at %v, %v; want 1", ends, err)
	}
	request := &kafka.DeleteTopicsRequest{Topics: []string{"events"}}
	if _, err := topic.Client.DeleteTopics(t.Context(), request); err != nil {
		t.Fatal(err)
	}
	eventually.Succeeds(t, "the new topic", func() error { return l.Append(t.Context(), "site", 1, message()) })
}

// TestAnotherBaselineMadeMeanwhile checks that the log refuses a topic of another baseline that another program creates
// while the log tries to create it.
func TestAnotherBaselineMadeMeanwhile(t *testing.T) {
	t.Parallel()
	asked, written := make(chan struct{}), make(chan struct{})
	ask := sync.OnceFunc(func() { close(asked) })
	broker := brokertest.Start(t, brokertest.Options{Answers: map[kmsg.Key]brokertest.Answer{
		kmsg.CreateTopics: func(r kmsg.Request) (kmsg.Response, error) {
			if r.(*kmsg.CreateTopicsRequest).Topics[0].NumPartitions == 2 {
				ask()
				<-written
			}
			return nil, nil
		},
	}})
	topic := NewTopic(broker.Addresses(), Access{}, "test", eventually.Patience, "events")
	t.Cleanup(topic.Close)
	topic.Check = topic.CheckBaseline
	cfg := Config{Brokers: broker.Addresses(), Partitions: 2, ProduceTimeout: eventually.Patience}
	made := make(chan error, 1)
	go func() { made <- topic.Create(t.Context(), cfg) }()
	<-asked
	createByHand(t, broker.Addresses(), "events", 1, otherMessage())
	close(written)
	if err := <-made; !errors.Is(err, ErrBaseline) {
		t.Errorf("Create returns %v", err)
	}
}
