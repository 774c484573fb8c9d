package sink

import (
	"testing"
	"time"

	"github.com/octavo-docs/octavo/ingest/eventstore"
)

// TestSinkReady checks that a sink is ready only while it is running. New must refuse settings that the consumer group
// would refuse, so that the operator gets the error at the start.
func TestSinkReady(t *testing.T) {
	t.Parallel()
	config := Config{Brokers: []string{"127.0.0.1:1"}, Store: &eventstore.ClickHouse{}}
	sink := newTestSink(t, config)
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
	config.RebalanceTimeout, config.Balances = -time.Second, sink.cfg.Balances
	if _, err := New(config, sink.metrics); err == nil {
		t.Error("a time below zero is not refused")
	}
}
