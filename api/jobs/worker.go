package jobs

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/riverqueue/river"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/postgres"
)

// worker does the jobs of one kind for river.
type worker[A schema.JobArgs] struct {
	river.WorkerDefaults[A]
	row    schema.JobKind
	runner *Runner
	work   func(context.Context, Deps, A) error
}

// Timeout bounds one attempt.
func (w *worker[A]) Timeout(*river.Job[A]) time.Duration { return w.row.Timeout }

// Work does a job. The error that river stores is the public reason of a failure.
func (w *worker[A]) Work(ctx context.Context, job *river.Job[A]) error {
	ctx = context.WithValue(ctx, lastAttempt{}, job.Attempt >= job.MaxAttempts)
	ctx, ended := w.runner.begins(ctx, w.row, job.ID)
	defer ended()
	// The audit log shows the same job id as the list of jobs.
	ctx = postgres.By(ctx, postgres.Actor{
		Type: schema.ActorJob, ID: strconv.FormatInt(job.ID, 10), Name: w.row.Name, Operation: w.row.Name,
	})
	err := w.try(postgres.Limited(ctx, maxStatement), job.Args)
	if err == nil {
		return nil
	}
	if errors.Is(context.Cause(ctx), errGivesWay) {
		// The attempt does not count, and the job waits for its next turn.
		return river.JobSnooze(0)
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		// The node is stopping. River recognizes its own cancellation, and returns the job to the queue.
		return ctx.Err()
	}
	w.runner.log.Warn("A job failed.", "job", job.ID, "kind", w.row.Name, "attempt", job.Attempt, "of", job.MaxAttempts, "error", err)
	reason := w.reason(ctx, err)
	_, final := errors.AsType[*hopeless](err)
	if final || w.row.Final && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return &abandoned{reason, river.JobCancel(err)}
	}
	return errors.New(reason)
}

// maxStatement limits each statement of a job. If a node is lost during a statement, Postgres may still run the
// statement and hold its locks.
const maxStatement = 5 * time.Minute

// lastAttempt is the key of a context's value. The value is true if a failure of the attempt is final.
type lastAttempt struct{}

// again reports whether a job of this context is retried after an error.
func again(ctx context.Context, kind schema.JobKind, err error) bool {
	last, _ := ctx.Value(lastAttempt{}).(bool)
	_, final := errors.AsType[*hopeless](err)
	return !last && !final && !(kind.Final && errors.Is(ctx.Err(), context.DeadlineExceeded))
}

// GiveUp marks an error that another attempt would repeat. The job fails immediately, and a user can retry it.
func GiveUp(err error) error { return &hopeless{err} }

type hopeless struct{ error }

func (h *hopeless) Unwrap() error { return h.error }

// abandoned makes river stop retrying. Its text is stored, so it has only the public reason.
type abandoned struct {
	reason string
	cancel error
}

func (a *abandoned) Error() string { return a.reason }
func (a *abandoned) Unwrap() error { return a.cancel }

// try turns a panic into an error, whose text river would store.
func (w *worker[A]) try(ctx context.Context, args A) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	if instead := w.runner.cfg.instead; instead != nil {
		return instead(ctx, args)
	}
	return w.work(ctx, w.runner.deps, args)
}

// internalReason replaces a cause that users must not see.
const internalReason = "an internal error; the server's log has its cause, with the id of this job"

func (w *worker[A]) reason(ctx context.Context, err error) string {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fmt.Sprintf("it did not finish within %s", w.row.Timeout)
	}
	if public, ok := errors.AsType[*schema.Error](err); ok && public.Code != schema.CodeInternal {
		return public.Message
	}
	return internalReason
}
