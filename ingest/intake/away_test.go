package intake

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest"
	"github.com/octavo-docs/octavo/ingest/eventlog"
	"github.com/octavo-docs/octavo/ingest/ingesttest"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/insights"
)

// unaskedKeys returns an error whenever a key is claimed.
type unaskedKeys struct{ Keys }

func (unaskedKeys) ClaimEventKey(context.Context, string, string, schema.KeyClaim, time.Duration) (schema.KeyClaim, error) {
	return schema.KeyClaim{}, errors.New("a key was claimed without a log")
}

// TestAcceptWithoutBroker checks that events are refused while the log's broker is unavailable, with an Idempotency-Key
// or without. No key must be claimed.
func TestAcceptWithoutBroker(t *testing.T) {
	t.Parallel()
	log, err := eventlog.New(eventlog.Config{
		Brokers: []string{enginetest.Address(t)}, StartWait: time.Millisecond, Logger: ingesttest.Logger(t),
	}, eventlog.NewMetrics(prometheus.NewRegistry()))
	if err != nil {
		t.Fatal(err)
	}
	ingesttest.Start(t, log)
	in := newTestIntake(t, log, func(c *Config) { c.Keys = unaskedKeys{} })
	for name, key := range map[string]string{"without a key": "", "with a key": "a key"} {
		t.Run(name, func(t *testing.T) {
			client := testClient
			client.IdempotencyKey = key
			err := in.Accept(t.Context(), testSite, []byte(ingesttest.Events(ingesttest.Event("page_view", ""))), client)
			if ingesttest.ReasonOf(err) != insights.LogUnavailable {
				t.Errorf("got %v", err)
			}
		})
	}
}
