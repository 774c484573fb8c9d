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

// worker is river's worker for the jobs of one kind.
type worker[A schema.JobArgs] struct {
	river.WorkerDefaults[A]
	row    schema.JobKind
	runner *Runner
	work   func(context.Context, Deps, A) error
}

// Timeout returns the longest time of one attempt.
func (w *worker[A]) Timeout(*river.Job[A]) time.Duration { return w.row.Timeout }

// Work runs a job. River stores the text of the returned error, so it has only the public reason of a failure.
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
		// The attempt is not counted, and the job waits for its next turn.
		return river.JobSnooze(0)
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		// The node is stopping. River recognizes that it has cancelled the context, and returns the job to the queue.
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

// maxStatement is the longest time of a single SQL statement of a job. If a node is lost during a statement, Postgres
// may continue the statement and hold its locks until this time is over.
const maxStatement = 5 * time.Minute

// lastAttempt is the key of a value in a job's context. The value is true if this is the job's last attempt.
type lastAttempt struct{}

// again reports whether the job with this context is retried after the error `err`.
func again(ctx context.Context, kind schema.JobKind, err error) bool {
	last, _ := ctx.Value(lastAttempt{}).(bool)
	_, final := errors.AsType[*hopeless](err)
	return !last && !final && !(kind.Final && errors.Is(ctx.Err(), context.DeadlineExceeded))
}

// GiveUp marks an error that another attempt would repeat. The job fails and is not retried automatically. A user can
// retry it.
func GiveUp(err error) error { return &hopeless{err} }

type hopeless struct{ error }

func (h *hopeless) Unwrap() error { return h.error }

// abandoned is an error that makes river stop retrying. River stores its text, so the text has only the public reason.
type abandoned struct {
	reason string
	cancel error
}

func (a *abandoned) Error() string { return a.reason }
func (a *abandoned) Unwrap() error { return a.cancel }

// try does the work of a job. If the work panics, `try` returns an error, because river would store the text of the
// panic.
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

// internalReason is the reason that users see instead of a cause that they must not see.
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
