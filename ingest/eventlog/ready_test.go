package eventlog

import (
	"testing"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest"
	"github.com/octavo-docs/octavo/cmd/engine/enginetest/brokertest"
)

// A log whose brokers are gone is not ready, even if the client has cached its
// topic. When a broker is back, the first check says that the log is ready.
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
