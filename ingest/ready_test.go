package ingest

import (
	"net/netip"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kfake"
)

// A sink that does not run is not ready, and settings that its consumer group
// would refuse are refused when it is built, not when nobody looks.
func TestSinkReady(t *testing.T) {
	t.Parallel()
	metrics := NewMetrics(prometheus.NewRegistry())
	config := SinkConfig{Brokers: []string{"127.0.0.1:1"}, Store: &ClickHouse{}}
	sink, err := NewSink(config, metrics)
	if err != nil {
		t.Fatal(err)
	}
	if sink.Ready(t.Context()) == nil {
		t.Error("a sink that was not started is ready")
	}
	if err := sink.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := sink.Ready(t.Context()); err != nil {
		t.Errorf("a sink that waits for its log works: %v", err)
	}
	if err := sink.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if sink.Ready(t.Context()) == nil {
		t.Error("a sink that was stopped is ready")
	}
	config.RebalanceTimeout = -time.Second
	if _, err := NewSink(config, metrics); err == nil {
		t.Error("a time below zero is not refused")
	}
}

// A log whose brokers are gone is not ready, whatever the client remembers of
// its topic. One whose broker is back is, at the first question.
func TestLogReady(t *testing.T) {
	t.Parallel()
	broker := newBroker(t)
	l := newTestLog(t, broker.ListenAddrs(), nil)
	ready := func() error { return l.Ready(t.Context()) }
	if err := ready(); err != nil {
		t.Fatal(err)
	}
	again := func() *kfake.Cluster {
		t.Helper()
		at, err := netip.ParseAddrPort(l.cfg.Brokers[0])
		if err != nil {
			t.Fatal(err)
		}
		c, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.Ports(int(at.Port())), kfake.SeedTopics(2, l.cfg.Topic))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		return c
	}
	broker.Close()
	broker = again()
	if err := ready(); err != nil {
		t.Errorf("a log whose broker has been started anew: %v", err)
	}
	broker.Close()
	if ready() == nil {
		t.Error("a log without a broker is ready")
	}
	again()
	if err := ready(); err != nil {
		t.Errorf("a log whose broker is back: %v", err)
	}
}
