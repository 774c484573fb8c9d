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

// inserter is a river client that inserts jobs in the transactions of callers. It has no connections of its own. It
// notifies workers of every job. With river's default, river does not notify workers of a job if another job was
// inserted shortly before. This is so even if the other job was rolled back.
var inserter = sync.OnceValues(func() (*river.Client[pgx.Tx], error) {
	return river.NewClient(riverpgxv5.New(nil), &river.Config{
		Logger: slog.New(slog.DiscardHandler), FetchCooldown: river.FetchCooldownMin,
	})
})

// JobAbout is the metadata of a job. Indexes and SQL statements use the JSON names of its fields.
type JobAbout struct {
	Organization string `json:"organization"`
	User         string `json:"user"`
	Space        string `json:"space,omitempty"`
	Sequence     string `json:"sequence"`
	Yields       bool   `json:"yields,omitzero"`
}

// jobAlone is the priority of a job whose organization and user have no other job with a turn. jobBesides is the
// priority of a surplus job. A surplus job has a turn only because no other organization or user is waiting.
const (
	jobAlone   = 1
	jobBesides = 4
)

// Enqueue inserts a job in a transaction. The job runs only after the transaction is committed. Until the transaction
// ends, other transactions that enqueue a job of the same kind and subject wait. So transactions that enqueue several
// jobs must all use the same order. Otherwise they could deadlock.
func Enqueue(ctx context.Context, q *db.Queries, args schema.JobArgs) error {
	_, err := EnqueueNew(ctx, q, args)
	return err
}

// EnqueueNew inserts a job like Enqueue, and returns the id of the job. If an equal job is already pending, no job is
// inserted and the id is 0.
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
		// The pending job starts only after this transaction, so it sees the changes of this transaction.
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

// JobLost is the reason that users read for a job whose process has ended.
const JobLost = "the process that ran it ended"

// JobText returns the id of a job as text.
func JobText(id int64) string { return strconv.FormatInt(id, 10) }

// JobID reads the id of a job from a text. `ok` is false if the text is not an id.
func JobID(text string) (id int64, ok bool) {
	id, err := strconv.ParseInt(text, 10, 64)
	return id, err == nil && id > 0 && strconv.FormatInt(id, 10) == text
}
