package intake

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/octavo-docs/octavo/ingest/ingesttest"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/insights"
)

// hungKeys is a database that accepts a query and never answers.
type hungKeys struct{ Keys }

func (hungKeys) ClaimEventKey(ctx context.Context, _, _ string, want schema.KeyClaim, _ time.Duration) (schema.KeyClaim, error) {
	<-ctx.Done()
	return want, ctx.Err()
}

// emptyLog is a log in which nothing is found.
type emptyLog struct{ ingesttest.MemoryLog }

var _ SearchableLog = (*emptyLog)(nil)

func (l *emptyLog) AppendAgain(ctx context.Context, site string, partition int, message []byte) error {
	return l.Append(ctx, site, partition, message)
}

func (*emptyLog) Choose() (int, error) { return 0, nil }

func (*emptyLog) RecentEnd(context.Context, int) (int64, error) { return 0, nil }

func (*emptyLog) Find(_ context.Context, _ int, from int64, _ insights.MessageID) (bool, int64, error) {
	return false, from, nil
}

// TestKeysHang: a request with a key is answered and releases its room even if
// the database with the keys hangs.
func TestKeysHang(t *testing.T) {
	t.Parallel()
	log := &emptyLog{}
	in := newTestIntake(t, log, func(c *Config) {
		c.Keys, c.KeyWait, c.KeyLease = hungKeys{}, time.Millisecond, 30*time.Millisecond
	})
	client := testClient
	client.IdempotencyKey = "key"
	err := in.Accept(t.Context(), testSite, []byte(ingesttest.Events(ingesttest.Event("page_view", ""))), client)
	if refused, ok := errors.AsType[*insights.Refusal](err); !ok || refused.Reason != insights.KeysUnavailable {
		t.Errorf("the answer is %v", err)
	}
	if len(log.Messages) > 0 {
		t.Error("the request was appended without its key")
	}
	wantIdle(t, in, testSite.ID)
}
