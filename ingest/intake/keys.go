package intake

import (
	"context"
	"crypto/sha256"
	"time"

	"github.com/octavo-docs/octavo/ingest/eventlog"
	"github.com/octavo-docs/octavo/ingest/retry"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/insights"
)

// Keys remembers which requests were sent under which Idempotency-Key, for a
// day, for all nodes. The store has them; see there.
//
// A request with a key takes these steps:
//
//  1. Its key is claimed, with a hash of its body, the id of its message, the
//     message's partition and that partition's present end.
//  2. Its message is appended.
//  3. The key is marked as done.
//
// A repeat that finds the key done appends nothing. One that finds it claimed
// waits a while. Should the claim's time be over, or given up, the node that
// had it is gone or got no answer of the log: then the repeat reads the
// partition from where it ended at the first claim, and appends the message,
// with the same id, only if it is not there. Should the message come in late
// all the same, the sink drops the second with its id: what is appended again
// carries no producer id, which tells the sink to look (see repeats).
type Keys interface {
	ClaimEventKey(ctx context.Context, site, key string, want schema.KeyClaim, lease time.Duration) (schema.KeyClaim, error)
	FinishEventKey(ctx context.Context, site, key string, c schema.KeyClaim) error
	ReleaseEventKey(ctx context.Context, site, key string, c schema.KeyClaim) error
	ForgetEventKey(ctx context.Context, site, key string, c schema.KeyClaim) error
}

// SearchableLog is a log in which a message can be found again.
type SearchableLog interface {
	Appender
	// AppendAgain appends a message that may also come in by an attempt before,
	// which was given up: the sink drops the second of the two.
	AppendAgain(ctx context.Context, site string, partition int, message []byte) error
	// Choose is the partition that Append would take now if it may take any.
	// There is an error as long as the log does not know its partitions.
	Choose() (partition int, err error)
	// End is the offset that the partition's next message will have.
	End(ctx context.Context, partition int) (int64, error)
	// Find looks for a message from an offset on, to the partition's end. next
	// is how far it came: when ctx ends, the rest can be looked at from there.
	Find(ctx context.Context, partition int, from int64, id insights.MessageID) (found bool, next int64, err error)
}

// keyUpdate bounds the marking of a key, which nobody's answer depends on.
const keyUpdate = 2 * time.Second

// appendOnce appends the decoder's message unless the request's key says that
// it is in the log. repeated tells that an earlier request with the key was
// acknowledged.
func (in *Intake) appendOnce(ctx context.Context, site, key string, body []byte, d *decoder) (repeated bool, refusal *insights.Refusal) {
	claim, asked, outcome, refusal := in.claim(ctx, site, key, body, d)
	switch {
	case refusal != nil:
	case claim.State == schema.KeyDone:
		repeated = true
	case claim.State == schema.KeyNew:
		refusal = in.appendClaimed(ctx, in.search.Append, site, key, claim, asked, d)
	default:
		outcome, refusal = in.resume(ctx, site, key, claim, asked, d)
	}
	if refusal != nil && outcome != "busy" && outcome != "reused" {
		outcome = "failed"
	}
	in.metrics.keys.WithLabelValues(outcome).Inc()
	return repeated, refusal
}

// claim gets hold of the key, or finds it done. asked is when the claim was
// asked for that was given.
func (in *Intake) claim(ctx context.Context, site, key string, body []byte, d *decoder) (got schema.KeyClaim, asked time.Time, outcome string, refusal *insights.Refusal) {
	want := schema.KeyClaim{BodyHash: sha256.Sum256(body), MessageID: d.encoder.ID()}
	var err error
	if want.Partition, err = in.search.Choose(); err == nil {
		want.Offset, err = in.search.End(ctx, want.Partition)
	}
	if err != nil {
		return want, asked, "failed", eventlog.Unavailable(err)
	}
	deadline := time.Now().Add(in.cfg.KeyWait)
	// A claim that takes longer than this is of no use to appendClaimed, and a
	// database that hangs must not hold the request's room.
	bounded, cancel := context.WithTimeout(ctx, in.cfg.KeyWait+in.cfg.KeyLease/3)
	defer cancel()
	wait := retry.Backoff{First: 5 * time.Millisecond, Max: 100 * time.Millisecond}
	for {
		asked = time.Now()
		if got, err = in.cfg.Keys.ClaimEventKey(bounded, site, key, want, in.cfg.KeyLease); err != nil {
			return want, asked, "failed", insights.Refuse(insights.KeysUnavailable, "", "idempotency keys are temporarily unavailable, try again").Because(err)
		}
		switch got.State {
		case schema.KeyReused:
			return got, asked, "reused", insights.Refuse(insights.KeyReused, "Idempotency-Key", "was used within a day for a request with another body")
		case schema.KeyDone:
			return got, asked, "repeat", nil
		case schema.KeyNew:
			return got, asked, "new", nil
		case schema.KeyOpen:
			return got, asked, "appended", nil
		case schema.KeyBusy: // Whoever has it may be done soon.
		}
		if ctx.Err() != nil || time.Until(deadline) < wait.Next() {
			return got, asked, "busy", insights.Refuse(insights.KeyBusy, "Idempotency-Key", "is that of a request which is being taken in, try again")
		}
		wait.Sleep(ctx)
	}
}

// resume finishes what an attempt before began.
func (in *Intake) resume(ctx context.Context, site, key string, claim schema.KeyClaim, asked time.Time, d *decoder) (outcome string, refusal *insights.Refusal) {
	search, cancel := context.WithDeadline(ctx, asked.Add(in.cfg.KeyLease/4))
	defer cancel()
	found, next, err := in.search.Find(search, claim.Partition, claim.Offset, claim.MessageID)
	claim.Offset = next
	switch {
	case err != nil:
		// What was looked through need not be again.
		in.mark(ctx, in.cfg.Keys.ReleaseEventKey, site, key, claim)
		return "failed", eventlog.Unavailable(err)
	case found:
		in.mark(ctx, in.cfg.Keys.FinishEventKey, site, key, claim)
		return "found", nil
	}
	d.encoder.SetID(claim.MessageID)
	return "appended", in.appendClaimed(ctx, in.search.AppendAgain, site, key, claim, asked, d)
}

// appendClaimed appends the message under a claim and says how it went.
func (in *Intake) appendClaimed(
	ctx context.Context, how func(context.Context, string, int, []byte) error, site, key string, claim schema.KeyClaim, asked time.Time, d *decoder,
) *insights.Refusal {
	// A node that slept since it got the claim must not append: its claim may
	// end before the append does.
	if time.Since(asked) > in.cfg.KeyLease/3 {
		return eventlog.Unavailable(context.DeadlineExceeded)
	}
	err := how(ctx, site, claim.Partition, d.encoder.Bytes())
	if err == nil {
		in.mark(ctx, in.cfg.Keys.FinishEventKey, site, key, claim)
		return nil
	}
	refusal := asError(err)
	switch {
	case !refusal.Reason.Retryable:
		in.mark(ctx, in.cfg.Keys.ForgetEventKey, site, key, claim)
	case ctx.Err() == nil:
		// The log has given the message up, so nobody appends it now. If ctx
		// is done instead, it may still: then the claim ends by its time.
		in.mark(ctx, in.cfg.Keys.ReleaseEventKey, site, key, claim)
	}
	return refusal
}

// mark writes the end of an attempt down. If that fails, the next one with the
// key finds out by the log.
func (in *Intake) mark(ctx context.Context, how func(context.Context, string, string, schema.KeyClaim) error, site, key string, claim schema.KeyClaim) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), keyUpdate)
	defer cancel()
	if err := how(ctx, site, key, claim); err != nil {
		in.metrics.keysUnmarked.Inc()
	}
}
