package eventlog

import (
	"errors"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest"
	"github.com/octavo-docs/octavo/cmd/engine/enginetest/brokertest"
	"github.com/octavo-docs/octavo/schema/schematest"
)

// TestLogReady checks that a log without a reachable broker is not ready, even if the client has cached the topic. As
// soon as a broker is reachable again, Ready must return nil at its first call.
func TestLogReady(t *testing.T) {
	t.Parallel()
	address := enginetest.Address(t)
	start := func() *brokertest.Broker { return brokertest.Start(t, brokertest.Options{Address: address}) }
	broker := start()
	l := newTestLog(t, broker.Addresses(), nil)
	ready := func() error { return l.Ready(t.Context()) }
	if err := ready(); err != nil {
		t.Fatal(err)
	}
	again := func() *brokertest.Broker {
		t.Helper()
		b := start()
		other := NewTopic(b.Addresses(), Access{}, "test", l.cfg.ProduceTimeout, l.cfg.Topic)
		defer other.Close()
		if err := other.Create(t.Context(), Config{Brokers: b.Addresses(), Partitions: 2}); err != nil {
			t.Fatal(err)
		}
		return b
	}
	broker.Stop()
	broker = again()
	if err := ready(); err != nil {
		t.Errorf("a log whose broker was restarted: %v", err)
	}
	broker.Stop()
	if ready() == nil {
		t.Error("a log without a broker is ready")
	}
	again()
	if err := ready(); err != nil {
		t.Errorf("a log whose broker is back: %v", err)
	}
}

// TestReadyIsFull checks that a log is not ready while the broker refuses events because it is full. It must be ready
// again when the broker accepts events. It must also be ready some time after the last refusal. Otherwise it would stay
// unready, because a load balancer sends no events to a node that is not ready.
func TestReadyIsFull(t *testing.T) {
	t.Parallel()
	broker := brokertest.Start(t, brokertest.Options{})
	l := newTestLog(t, broker.Addresses(), func(c *Config) { c.Partitions = 1 })
	send := func(full bool) {
		t.Helper()
		broker.On(kmsg.Produce, func(r kmsg.Request) (kmsg.Response, error) {
			if !full {
				return nil, nil
			}
			req := r.(*kmsg.ProduceRequest)
			res, topic := req.ResponseKind().(*kmsg.ProduceResponse), kmsg.NewProduceResponseTopic()
			partition := kmsg.NewProduceResponseTopicPartition()
			topic.Topic, partition.ErrorCode = req.Topics[0].Topic, int16(kafka.PolicyViolation)
			topic.Partitions = append(topic.Partitions, partition)
			res.Topics = append(res.Topics, topic)
			return res, nil
		})
		if err := l.Append(t.Context(), "site", 0, []byte("event")); (err != nil) != full {
			t.Fatal(err)
		}
		if err := l.Ready(t.Context()); errors.Is(err, ErrFull) != full || !full && err != nil {
			t.Errorf("full is %v: %v", full, err)
		}
	}
	send(false)
	send(true)
	send(false)
	send(true)
	now := time.Now()
	if !l.full(now) || !l.full(schematest.Stepped(t, now, -time.Hour)) {
		t.Error("it is not full")
	}
	if l.full(now.Add(fullFor)) {
		t.Error("it stays full without events")
	}
}
