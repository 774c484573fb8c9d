package eventlog

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol/metadata"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest"
	"github.com/octavo-docs/octavo/cmd/engine/enginetest/brokertest"
	"github.com/octavo-docs/octavo/cmd/engine/enginetest/capture"
	"github.com/octavo-docs/octavo/cmd/engine/enginetest/eventually"
	"github.com/octavo-docs/octavo/ingest/ingesttest"
	"github.com/octavo-docs/octavo/ingest/retry"
	"github.com/octavo-docs/octavo/schema/insights"
)

// impatient shortens the wait of logs whose broker is unavailable.
func impatient(c *Config) { c.StartWait = time.Millisecond }

// TestLogStartsWithoutBroker checks that a log starts while its broker is unavailable. It must refuse messages, and
// accept them as soon as the broker is available.
func TestLogStartsWithoutBroker(t *testing.T) {
	t.Parallel()
	address := enginetest.Address(t)
	said := &capture.Buffer{}
	l := newTestLog(t, []string{address}, func(c *Config) {
		impatient(c)
		c.Logger = slog.New(slog.NewTextHandler(said, nil))
	})
	if err := l.Append(t.Context(), "site", 1, []byte("early")); ingesttest.ReasonOf(err) != insights.LogUnavailable || !strings.Contains(err.Error(), "refused") {
		t.Errorf("without a broker: %v", err)
	}
	if p, err := l.Choose(); err == nil {
		t.Errorf("a log that does not know its partitions chose partition %d", p)
	}
	if err := l.Ready(t.Context()); err == nil {
		t.Error("the log is ready without a broker")
	}

	// A request that is sent while the broker starts must be accepted, or refused as unavailable.
	var taken atomic.Int64
	var senders sync.WaitGroup
	for range 4 {
		senders.Go(func() {
			for ; ; retry.Sleep(t.Context(), time.Millisecond) {
				_, _ = l.Choose() // lets the race detector check Choose
				err := l.Append(t.Context(), "site", AnyPartition, []byte("message"))
				if err == nil {
					taken.Add(1)
					return
				}
				if ingesttest.ReasonOf(err) != insights.LogUnavailable {
					t.Error(err)
					return
				}
			}
		})
	}
	broker := brokertest.Start(t, brokertest.Options{Address: address})
	senders.Wait()
	if err := l.Ready(t.Context()); err != nil {
		t.Errorf("with a broker: %v", err)
	}
	if p, err := l.Choose(); p < 0 || p > 1 || err != nil {
		t.Errorf("the log chose partition %d of 2, %v", p, err)
	}
	stored := 0
	for partition := range 2 {
		stored += len(ingesttest.ReadTopic(t, broker.Addresses(), "events", partition))
	}
	if stored != 4 || taken.Load() != 4 {
		t.Errorf("the log has %d messages and accepted %d, want 4", stored, taken.Load())
	}
	if text := said.String(); strings.Count(text, "level=WARN") != 1 || strings.Count(text, "events are taken") != 1 {
		t.Errorf("want one warning and one message that it is over:\n%s", text)
	}
}

// TestLogStopsWhileItWaits stops a log that waits for a broker. The broker refuses connections, or never answers.
func TestLogStopsWhileItWaits(t *testing.T) {
	t.Parallel()
	closed := enginetest.Address(t)
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = silent.Close() })
	for name, address := range map[string]string{"refused": closed, "silent": silent.Addr().String()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newTestLog(t, []string{address}, func(c *Config) {
				impatient(c)
				c.ProduceTimeout = 50 * time.Millisecond
			})
			if err := l.Stop(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := l.Append(t.Context(), "site", 0, []byte("late")); ingesttest.ReasonOf(err) != insights.LogUnavailable {
				t.Errorf("after Stop: %v", err)
			}
			if l.Ready(t.Context()) == nil {
				t.Error("the log is ready after Stop")
			}
		})
	}
	// If the context of Start ends before Start has found a broker, Start returns an error.
	l, err := New(Config{Brokers: []string{closed}}, NewMetrics(prometheus.NewRegistry()))
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Start(ingesttest.Cancelled(t)); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// TestLogStartRefused checks that Start fails after an error code which a retry cannot change. After any other code,
// Start must return nil when StartWait is over, and the log must continue to try.
func TestLogStartRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		code  kafka.Error
		fatal bool
	}{
		{kafka.TopicAuthorizationFailed, true}, {kafka.ClusterAuthorizationFailed, true}, {kafka.PolicyViolation, true},
		{kafka.InvalidTopic, true}, {kafka.InvalidPartitionNumber, true}, {kafka.InvalidConfiguration, true},
		{kafka.InvalidReplicationFactor, false}, {kafka.NotController, false}, {kafka.Unknown, false},
	} {
		t.Run(c.code.Title(), func(t *testing.T) {
			t.Parallel()
			broker := brokertest.Start(t, brokertest.Options{})
			var mended atomic.Bool
			broker.On(kmsg.CreateTopics, func(r kmsg.Request) (kmsg.Response, error) {
				if mended.Load() {
					return nil, nil
				}
				res := r.ResponseKind().(*kmsg.CreateTopicsResponse)
				topic := kmsg.NewCreateTopicsResponseTopic()
				topic.Topic, topic.ErrorCode = r.(*kmsg.CreateTopicsRequest).Topics[0].Topic, int16(c.code)
				res.Topics = append(res.Topics, topic)
				return res, nil
			})
			cfg := Config{Brokers: broker.Addresses(), Topic: "events"}
			cfg.StartWait, cfg.RetryWait = time.Millisecond, time.Millisecond
			l, err := New(cfg, NewMetrics(prometheus.NewRegistry()))
			if err != nil {
				t.Fatal(err)
			}
			err = l.Start(t.Context())
			if c.fatal {
				if err == nil || !strings.Contains(err.Error(), "events") {
					t.Errorf("got %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			mended.Store(true)
			eventually.True(t, "the log", func() bool { return l.Append(t.Context(), "site", 0, []byte("a")) == nil })
			if err := l.Stop(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

// manyPartitions answers metadata requests like a cluster whose topic has one partition too many. A real broker would
// need seconds to create such a topic.
type manyPartitions struct{}

func (manyPartitions) RoundTrip(_ context.Context, _ net.Addr, request kafka.Request) (kafka.Response, error) {
	return &metadata.Response{Topics: []metadata.ResponseTopic{{
		Name: request.(*metadata.Request).TopicNames[0], Partitions: make([]metadata.ResponsePartition, maxPartitions+1),
	}}}, nil
}

// TestLogTooManyPartitions checks that Start fails immediately if the topic has more partitions than the events table
// can store in its column of the partition.
func TestLogTooManyPartitions(t *testing.T) {
	t.Parallel()
	l, err := New(Config{Brokers: []string{"127.0.0.1:1"}, Topic: "events", StartWait: time.Millisecond}, NewMetrics(prometheus.NewRegistry()))
	if err != nil {
		t.Fatal(err)
	}
	l.topic.Client.Transport = manyPartitions{}
	if err := l.Start(t.Context()); err == nil || !strings.Contains(err.Error(), "65537 partitions") {
		t.Errorf("got %v", err)
	}
}

// TestLogReadyMissesItsTopic checks that a log is not ready if its broker comes back without the log's topic.
func TestLogReadyMissesItsTopic(t *testing.T) {
	t.Parallel()
	address := enginetest.Address(t)
	broker := brokertest.Start(t, brokertest.Options{Address: address})
	l := newTestLog(t, broker.Addresses(), nil)
	if err := l.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	broker.Stop()
	brokertest.Start(t, brokertest.Options{Address: address}) // the new broker does not have the topic
	eventually.True(t, "the log to miss the topic", func() bool {
		return errors.Is(l.Ready(t.Context()), kafka.UnknownTopicOrPartition)
	})
}

func TestCheckBrokers(t *testing.T) {
	t.Parallel()
	for address, ok := range map[string]bool{
		"kafka:9092": true, "127.0.0.1:9092": true, "[::1]:9092": true, "not-known-yet.example:1": true,
		"": false, "kafka": false, ":9092": false, "kafka:": false, "kafka:port": false, "kafka:0": false, "kafka:65536": false,
		"kafka://kafka:9092": false, "::1": false,
	} {
		t.Run(address, func(t *testing.T) {
			if err := CheckBrokers([]string{"kafka:9092", address}); (err == nil) != ok {
				t.Errorf("%q: %v", address, err)
			}
		})
	}
	if CheckBrokers(nil) == nil {
		t.Error("an empty list of brokers is accepted")
	}
}
