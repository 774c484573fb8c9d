package postgres

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"strconv"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/db"
)

// inserter writes jobs into the transactions of callers, and has no connections. It notifies workers of every job. By
// default, river skips the notification of a job soon after the last job, even if the last job was rolled back.
var inserter = sync.OnceValues(func() (*river.Client[pgx.Tx], error) {
	return river.NewClient(riverpgxv5.New(nil), &river.Config{
		Logger: slog.New(slog.DiscardHandler), FetchCooldown: river.FetchCooldownMin,
	})
})

// JobAbout is the metadata of a job. Indexes and statements know the names of its members.
type JobAbout struct {
	Organization string `json:"organization"`
	User         string `json:"user"`
	Space        string `json:"space,omitempty"`
	Sequence     string `json:"sequence"`
	Yields       bool   `json:"yields,omitzero"`
}

// jobAlone is the priority of a job if its organization and its user have no other job with a turn. jobBesides is the
// priority of a surplus job, which only has a turn because no other organization or user is waiting.
const (
	jobAlone   = 1
	jobBesides = 4
)

// Enqueue inserts a job in a transaction. The job runs after the commit, and never runs after a rollback. Until the
// transaction ends, Enqueue blocks other transactions with the same kind and subject. So a transaction with several
// jobs must enqueue them in a fixed order.
func Enqueue(ctx context.Context, q *db.Queries, args schema.JobArgs) error {
	_, err := EnqueueNew(ctx, q, args)
	return err
}

// EnqueueNew does the same as Enqueue, and returns the id of the job. The id is 0 if a pending job makes the new job
// unnecessary.
func EnqueueNew(ctx context.Context, q *db.Queries, args schema.JobArgs) (int64, error) {
	tx, ok := q.Tx()
	if !ok {
		return 0, schema.Internal(errors.New("a job is asked for outside of a transaction"))
	}
	kind, subject := args.JobKind(), args.Subject()
	about := JobAbout{
		Organization: subject.Organization, Space: subject.Space,
		Sequence: kind.Name + " " + cmp.Or(subject.Part, subject.Space, subject.Organization), Yields: kind.Yields,
	}
	if err := q.LockJobSequence(ctx, about.Sequence); err != nil {
		return 0, Interpret(err, "jobs")
	}
	there, err := q.WaitingJobs(ctx, db.WaitingJobsParams{
		Newest: kind.Order == schema.NewestJob, Sequence: about.Sequence,
		Kind: kind.Name, Organization: about.Organization, UserID: ActingUser(ctx), Workers: int32(kind.Workers),
	})
	if err != nil || there.Waiting {
		// The pending job starts after this transaction, so it sees the transaction's changes.
		return 0, Interpret(err, "jobs")
	}
	about.User = there.Maker
	priority := jobAlone
	if !there.Alone {
		priority = jobBesides
	}
	metadata, err := json.Marshal(about)
	if err != nil {
		return 0, schema.Internal(err)
	}
	client, err := inserter()
	if err != nil {
		return 0, schema.Internal(err)
	}
	made, err := client.InsertTx(ctx, tx, args, &river.InsertOpts{
		Queue: kind.Name, MaxAttempts: kind.Attempts, Metadata: metadata, Priority: priority,
		Pending: there.Open || there.Crowded,
	})
	if err != nil {
		return 0, Interpret(err, "jobs")
	}
	return made.Job.ID, nil
}

// JobLost is the reason of a job whose process ended.
const JobLost = "the process that ran it ended"

// JobText writes the id of a job.
func JobText(id int64) string { return strconv.FormatInt(id, 10) }

// JobID reads the id of a job. ok is false if the text is not an id.
func JobID(text string) (id int64, ok bool) {
	id, err := strconv.ParseInt(text, 10, 64)
	return id, err == nil && id > 0 && strconv.FormatInt(id, 10) == text
}
