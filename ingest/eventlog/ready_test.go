package eventlog

import (
	"net/netip"
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/octavo-docs/octavo/ingest/ingesttest"
)

// A log whose brokers are gone is not ready, even if the client has cached its
// topic. When a broker is back, the first check says that the log is ready.
func TestLogReady(t *testing.T) {
	t.Parallel()
	broker := ingesttest.Broker(t)
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
		t.Errorf("a log whose broker was restarted: %v", err)
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
