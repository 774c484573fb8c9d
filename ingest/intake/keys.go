package intake

import (
	"context"
	"crypto/sha256"
	"errors"
	"strings"
	"time"

	"github.com/octavo-docs/octavo/ingest/eventlog"
	"github.com/octavo-docs/octavo/ingest/retry"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/insights"
)

// Keys records which requests were sent with which Idempotency-Key. All nodes share the records, which last for a day.
// Package store implements it.
//
// A request with a key takes three steps:
//
//  1. It claims the key, with a hash of its body, the id and the partition of its
//     message, and the partition's recent end.
//  2. It appends the message.
//  3. It marks the key as done, after the answer.
//
// If the key is done, a repeat of the request appends nothing. If the key is claimed, the repeat waits for a while. A
// claim expires if its node has crashed. A node releases its claim if the log did not answer. The repeat then searches
// the partition for the message. It starts at the end that the first claim recorded, or at the offset where an earlier
// search stopped. If the message is not in the log, the repeat appends it with the same id. If the first message
// arrives after this, the sink drops the second copy: it compares the ids of messages that were appended without a
// producer id (sink.repeats). If the log no longer has all messages from this offset on, the search cannot prove that
// the message is absent. The repeat is then refused.
//
// recentKeys answers repeats that reach the same node, without a query to Keys.
type Keys interface {
	ClaimEventKey(ctx context.Context, site, key string, want schema.KeyClaim, lease time.Duration) (schema.KeyClaim, error)
	FinishEventKey(ctx context.Context, site, key string, c schema.KeyClaim) error
	ReleaseEventKey(ctx context.Context, site, key string, c schema.KeyClaim) error
	ForgetEventKey(ctx context.Context, site, key string, c schema.KeyClaim) error
}

// SearchableLog is a log that can be searched for a message.
type SearchableLog interface {
	Appender
	// AppendAgain is like Append, for a message that an earlier, abandoned attempt may still append. If the log gets
	// both copies, the sink drops the second copy.
	AppendAgain(ctx context.Context, site string, partition int, message []byte) error
	// Choose returns the partition that Append would choose now. It returns an error until the log has read the topic's
	// partitions.
	Choose() (partition int, err error)
	// RecentEnd returns an offset of the partition. The partition's next message will have this offset or a higher
	// offset.
	RecentEnd(ctx context.Context, partition int) (int64, error)
	// Find looks for a message between an offset and the partition's end. `next` is the offset at which the search
	// stopped. If ctx ends first, another search can continue from `next`. If the log no longer has all messages from
	// the offset on and Find does not find the message, it returns eventlog.ErrUnknowable.
	Find(ctx context.Context, partition int, from int64, id insights.MessageID) (found bool, next int64, err error)
}

const (
	// keyUpdate is the time limit for updating a key in the store. The answer of a request does not depend on the
	// success of this update.
	keyUpdate = 2 * time.Second
	// keyFinishes is the largest number of keys that a node may mark as done in the background, after it has answered
	// their requests. If this many keys wait, because the database is slow, the node marks a further key as done before
	// it answers the request.
	keyFinishes = 4096
)

// appendOnce appends the decoder's message, unless the request's key shows that the message is in the log already.
// `repeated` is true if an earlier request with the key was acknowledged.
func (in *Intake) appendOnce(ctx context.Context, site, key string, body []byte, d *decoder) (repeated bool, refusal *insights.Refusal) {
	repeated, outcome, refusal := in.appendKnown(ctx, site, key, sha256.Sum256(body), d)
	if refusal != nil && outcome != "busy" && outcome != "reused" {
		outcome = "failed"
	}
	in.metrics.keys.WithLabelValues(outcome).Inc()
	return repeated, refusal
}

// appendKnown is appendOnce without the metric. It queries the store only for a key that is not in this node's cache.
func (in *Intake) appendKnown(
	ctx context.Context, site, key string, bodyHash [sha256.Size]byte, d *decoder,
) (repeated bool, outcome string, refusal *insights.Refusal) {
	id := nameKey(site, key)
	switch in.recent.begin(ctx, id, bodyHash, in.cfg.KeyWait) {
	case schema.KeyDone:
		return true, "repeat", nil
	case schema.KeyReused:
		return false, "reused", keyReused(d)
	case schema.KeyBusy:
		return false, "busy", keyBusy(d)
	case schema.KeyNew, schema.KeyOpen:
	}
	var free time.Time // the time at which the key can be used again; zero if the time is unknown
	defer func() { in.recent.end(id, bodyHash, free) }()
	claim, claimedAt, outcome, refusal := in.claim(ctx, site, key, bodyHash, d)
	switch {
	case refusal != nil:
	case claim.State == schema.KeyDone:
		repeated, free = true, claimedAt.Add(claim.Left)
	case claim.State == schema.KeyNew:
		if refusal = in.appendClaimed(ctx, in.search.Append, site, key, claim, claimedAt, d); refusal == nil {
			// The deferred call of recent.end records in this node's cache that the request's idempotency key is done.
			in.finishKey(ctx, site, key, claim)
			free = claimedAt.Add(keyLife)
		}
	default:
		outcome, refusal = in.resume(ctx, site, key, claim, claimedAt, d)
	}
	return repeated, outcome, refusal
}

func keyReused(d *decoder) *insights.Refusal {
	const problem = "was used within a day for a request with another body"
	return insights.Refuse(insights.KeyReused, d.keyField(), problem)
}

func keyBusy(d *decoder) *insights.Refusal {
	const problem = "belongs to a request that is being processed, try again"
	return insights.Refuse(insights.KeyBusy, d.keyField(), problem)
}

func keyUnknowable(d *decoder) *insights.Refusal {
	const problem = "belongs to an interrupted request, and the log can no longer show whether it has the events"
	return insights.Refuse(insights.LogUnavailable, d.keyField(), problem)
}

// keyField returns the name of the field that has the request's key, for errors.
func (d *decoder) keyField() string {
	if d.door.on {
		return "id"
	}
	return "Idempotency-Key"
}

// claim claims the request's idempotency key, or finds that the key is done. `claimedAt` is a time just before the
// claim was granted.
func (in *Intake) claim(
	ctx context.Context, site, key string, bodyHash [sha256.Size]byte, d *decoder,
) (got schema.KeyClaim, claimedAt time.Time, outcome string, refusal *insights.Refusal) {
	want := schema.KeyClaim{BodyHash: bodyHash, MessageID: d.encoder.ID()}
	var err error
	if want.Partition, err = in.search.Choose(); err == nil {
		want.Offset, err = in.search.RecentEnd(ctx, want.Partition)
	}
	if err != nil {
		return want, claimedAt, "failed", eventlog.Unavailable(err)
	}
	deadline := time.Now().Add(in.cfg.KeyWait)
	// If the database does not answer, the request must end, so that another request is admitted. After this time,
	// appendClaimed could not use the claim.
	bounded, cancel := context.WithTimeout(ctx, in.cfg.KeyWait+in.cfg.KeyLease/3)
	defer cancel()
	wait := retry.Backoff{First: 5 * time.Millisecond, Max: 100 * time.Millisecond}
	for {
		claimedAt = time.Now()
		if got, err = in.cfg.Keys.ClaimEventKey(bounded, site, key, want, in.cfg.KeyLease); err != nil {
			return want, claimedAt, "failed", insights.Refuse(insights.KeysUnavailable, "", "idempotency keys are temporarily unavailable, try again").Because(err)
		}
		switch got.State {
		case schema.KeyReused:
			return got, claimedAt, "reused", keyReused(d)
		case schema.KeyDone:
			return got, claimedAt, "repeat", nil
		case schema.KeyNew:
			return got, claimedAt, "new", nil
		case schema.KeyOpen:
			return got, claimedAt, "appended", nil
		case schema.KeyBusy: // the other attempt may finish soon
		}
		if ctx.Err() != nil || time.Until(deadline) < wait.Next() {
			return got, claimedAt, "busy", keyBusy(d)
		}
		wait.Sleep(ctx)
	}
}

// resume completes the work of an earlier attempt. It appends the message unless the log has it.
func (in *Intake) resume(ctx context.Context, site, key string, claim schema.KeyClaim, claimedAt time.Time, d *decoder) (outcome string, refusal *insights.Refusal) {
	search, cancel := context.WithDeadline(ctx, claimedAt.Add(in.cfg.KeyLease/4))
	defer cancel()
	found, next, err := in.search.Find(search, claim.Partition, claim.Offset, claim.MessageID)
	claim.Offset = next
	switch {
	case err != nil:
		// ReleaseEventKey stores claim.Offset, so the next attempt continues the search there.
		in.updateKey(ctx, in.cfg.Keys.ReleaseEventKey, site, key, claim)
		if errors.Is(err, eventlog.ErrUnknowable) {
			return "failed", keyUnknowable(d).Because(err)
		}
		return "failed", eventlog.Unavailable(err)
	case found:
		in.updateKey(ctx, in.cfg.Keys.FinishEventKey, site, key, claim)
		return "found", nil
	}
	d.encoder.SetID(claim.MessageID)
	if refusal = in.appendClaimed(ctx, in.search.AppendAgain, site, key, claim, claimedAt, d); refusal == nil {
		// This node does not know until when the idempotency key is valid. So it cannot cache the key, and a repeat of
		// the request queries the store. So mark the key as done in the store before the answer.
		in.updateKey(ctx, in.cfg.Keys.FinishEventKey, site, key, claim)
	}
	return "appended", refusal
}

// appendClaimed appends the message of a claimed key. If the append fails, it releases the key or deletes it.
func (in *Intake) appendClaimed(
	ctx context.Context, how func(context.Context, string, int, []byte) error, site, key string, claim schema.KeyClaim, claimedAt time.Time, d *decoder,
) *insights.Refusal {
	// A node that was paused after it got the claim must not append, because the claim may expire before the append
	// ends.
	if time.Since(claimedAt) > in.cfg.KeyLease/3 {
		return eventlog.Unavailable(context.DeadlineExceeded)
	}
	err := how(ctx, site, claim.Partition, d.encoder.Bytes())
	if err == nil {
		return nil
	}
	refusal := asError(err)
	switch {
	case !refusal.Reason.Retryable:
		in.updateKey(ctx, in.cfg.Keys.ForgetEventKey, site, key, claim)
	case ctx.Err() == nil:
		// The log has abandoned the message and does not append it later, so the key can be released. If ctx is done,
		// the log may still append the message, so the key stays claimed until the claim expires.
		in.updateKey(ctx, in.cfg.Keys.ReleaseEventKey, site, key, claim)
	}
	return refusal
}

// finishKey marks a claim's key as done in the store, usually after the answer. Until then a repeat that reaches
// another node waits. It does not retain `site` or `key`.
func (in *Intake) finishKey(ctx context.Context, site, key string, claim schema.KeyClaim) {
	select {
	case in.finishing <- struct{}{}:
	default:
		in.updateKey(ctx, in.cfg.Keys.FinishEventKey, site, key, claim)
		return
	}
	site, key = strings.Clone(site), strings.Clone(key)
	in.finishes.Go(func() {
		// The request and its context may already have ended.
		in.updateKey(context.Background(), in.cfg.Keys.FinishEventKey, site, key, claim)
		<-in.finishing
	})
}

// Stop waits until the keys of acknowledged requests are marked as done in the store. Before the call, the caller ends
// all requests.
func (in *Intake) Stop(ctx context.Context) error {
	done := make(chan struct{})
	go func() {
		in.finishes.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// updateKey records the outcome of an attempt. If that fails, the next attempt with the key searches the log.
func (in *Intake) updateKey(ctx context.Context, how func(context.Context, string, string, schema.KeyClaim) error, site, key string, claim schema.KeyClaim) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), keyUpdate)
	defer cancel()
	if err := how(ctx, site, key, claim); err != nil {
		in.metrics.keysUnmarked.Inc()
	}
}
