package intake

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/octavo-docs/octavo/ingest/eventlog"
	"github.com/octavo-docs/octavo/ingest/ingesttest"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/insights"
)

// hungKeys behaves like a database that accepts a query and never answers.
type hungKeys struct{ Keys }

func (hungKeys) ClaimEventKey(ctx context.Context, _, _ string, want schema.KeyClaim, _ time.Duration) (schema.KeyClaim, error) {
	<-ctx.Done()
	return want, ctx.Err()
}

// emptyLog is a log in which Find finds no message.
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

// TestKeysHang uses a keys database that never answers. A request with a key still gets an answer and frees its place
// in admission.
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

// slowKeys grants every claim. FinishEventKey waits until the test lets it continue.
type slowKeys struct {
	recordedKeys
	finish   chan struct{}
	mu       *sync.Mutex
	finished *[]string
}

func (k slowKeys) FinishEventKey(ctx context.Context, site, key string, _ schema.KeyClaim) error {
	select {
	case <-k.finish:
		k.mu.Lock()
		defer k.mu.Unlock()
		*k.finished = append(*k.finished, site+" "+key)
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// TestKeyIsFinishedAfterTheAnswer checks that a request is answered before its key is finished: before the store has
// the key as done. When the key is finished, the client may have disconnected, and the request's memory may have other
// contents. Stop must wait until the key is finished. If too many keys are waiting, the next request must wait until
// its key is finished.
func TestKeyIsFinishedAfterTheAnswer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		keys := slowKeys{recordedKeys{claimed: new([]string)}, make(chan struct{}), new(sync.Mutex), new([]string)}
		in := newTestIntake(t, &emptyLog{}, func(c *Config) { c.Keys = keys })
		in.finishing = make(chan struct{}, 1)
		body := []byte(ingesttest.Events(ingesttest.Event("page_view", "")))
		accept := func(key []byte) error {
			ctx, gone := context.WithCancel(t.Context())
			defer gone()
			client := testClient
			client.IdempotencyKey = text(key)
			return in.Accept(ctx, testSite, body, client)
		}
		bytes := []byte("first")
		if err := accept(bytes); err != nil {
			t.Fatal(err)
		}
		copy(bytes, "other")
		second := make(chan error)
		go func() { second <- accept([]byte("second")) }()
		stopped := make(chan error)
		go func() { stopped <- in.Stop(t.Context()) }()
		synctest.Wait()
		select {
		case err := <-second:
			t.Errorf("the second request does not wait: %v", err)
		case err := <-stopped:
			t.Errorf("the intake stops before the first key is finished: %v", err)
		default:
		}
		keys.finish <- struct{}{}
		keys.finish <- struct{}{}
		if err := errors.Join(<-second, <-stopped); err != nil {
			t.Error(err)
		}
		slices.Sort(*keys.finished)
		if want := []string{"site_1 first", "site_1 second"}; !slices.Equal(*keys.finished, want) {
			t.Errorf("the keys %q are finished", *keys.finished)
		}
	})
}

// trimmedLog is a log that no longer has all messages at or after a claim's offset.
type trimmedLog struct{ emptyLog }

func (*trimmedLog) Find(_ context.Context, _ int, from int64, _ insights.MessageID) (bool, int64, error) {
	return false, from, eventlog.ErrUnknowable
}

// releasedKeys records the claims that are released.
type releasedKeys struct {
	recordedKeys
	released *[]schema.KeyClaim
}

func (k releasedKeys) ReleaseEventKey(_ context.Context, _, _ string, c schema.KeyClaim) error {
	*k.released = append(*k.released, c)
	return nil
}

// TestKeyOfATrimmedLog checks a repeat whose first attempt was interrupted. The attempt's message may be among the
// messages that the log no longer has. The repeat is refused with an error that says so, and nothing is appended.
func TestKeyOfATrimmedLog(t *testing.T) {
	t.Parallel()
	log, released := &trimmedLog{}, []schema.KeyClaim{}
	keys := releasedKeys{recordedKeys{claimed: new([]string), state: schema.KeyOpen}, &released}
	in := newTestIntake(t, log, func(c *Config) { c.Keys = keys })
	client := testClient
	client.IdempotencyKey = "key"
	err := in.Accept(t.Context(), testSite, []byte(ingesttest.Events(ingesttest.Event("page_view", ""))), client)
	refused, ok := errors.AsType[*insights.Refusal](err)
	if !ok || refused.Reason != insights.LogUnavailable || refused.Field != "Idempotency-Key" ||
		!strings.Contains(refused.Message, "can no longer show") {
		t.Errorf("the answer is %v", err)
	}
	if len(log.Messages) > 0 || len(released) != 1 {
		t.Errorf("%d messages are appended, and the claims %+v are released", len(log.Messages), released)
	}
}
