package queue

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/postgres"
)

// Filter narrows a list of jobs. A nil field does not filter.
type Filter struct {
	State *string
	Kind  *string
	Space *string
}

// Row is a job with the state that users see.
type Row = db.JobByIDRow

// List lists the jobs of an organization, the newest first. `after` is the id of the previous page's last job, or ""
// for the first page.
func (s *Store) List(
	ctx context.Context, organizationID string, f Filter, after string, size int,
) (postgres.Page[schema.Job], error) {
	before, err := beforeJob(after)
	if err != nil {
		return postgres.Page[schema.Job]{}, err
	}
	total, err := s.db.Planned.CountJobs(ctx, db.CountJobsParams{
		Organization: organizationID, Kind: f.Kind, Space: f.Space, State: f.State,
	})
	if err != nil {
		return postgres.Page[schema.Job]{}, postgres.Interpret(err, "jobs")
	}
	rows, err := s.db.Planned.ListJobs(ctx, db.ListJobsParams{
		Organization: organizationID, Before: before, Kind: f.Kind, Space: f.Space, State: f.State,
		PageSize: postgres.PageSize(size),
	})
	if err != nil {
		return postgres.Page[schema.Job]{}, postgres.Interpret(err, "jobs")
	}
	jobs := make([]schema.Job, len(rows))
	for i, row := range rows {
		if jobs[i], err = readJob(Row(row)); err != nil {
			return postgres.Page[schema.Job]{}, err
		}
	}
	return postgres.PageOf(jobs, size, total), nil
}

// ListAll lists the jobs of all organizations, the newest first. The result has no total number of jobs.
func (s *Store) ListAll(
	ctx context.Context, state, kind *string, after string, size int,
) (postgres.Page[schema.Job], error) {
	before, err := beforeJob(after)
	if err != nil {
		return postgres.Page[schema.Job]{}, err
	}
	rows, err := s.db.Planned.ListAllJobs(ctx, db.ListAllJobsParams{
		Before: before, Kind: kind, State: state, PageSize: postgres.PageSize(size),
	})
	if err != nil {
		return postgres.Page[schema.Job]{}, postgres.Interpret(err, "jobs")
	}
	jobs := make([]schema.Job, len(rows))
	for i, row := range rows {
		if jobs[i], err = readJob(Row(row)); err != nil {
			return postgres.Page[schema.Job]{}, err
		}
	}
	return postgres.PageOf(jobs, size, 0), nil
}

func beforeJob(after string) (int64, error) {
	if after == "" {
		return 1<<63 - 1, nil
	}
	id, ok := postgres.JobID(after)
	if !ok {
		return 0, schema.BadPage()
	}
	return id, nil
}

// Retry makes a job run again, beginning with the first attempt. The job must have failed or wait for its next attempt.
// A job that waits for its first attempt stays unchanged. If organizationID is "", the caller is an operator, who may
// retry the jobs of all organizations.
func (s *Store) Retry(ctx context.Context, organizationID, id string) (schema.Job, error) {
	number, ok := postgres.JobID(id)
	if !ok {
		return schema.Job{}, schema.NotFound("job")
	}
	var job schema.Job
	err := s.db.InTx(ctx, func(_ pgx.Tx, q *db.Queries) error {
		seen, err := q.JobByID(ctx, number)
		if err != nil {
			return postgres.Interpret(err, "job")
		}
		about, err := aboutJob(seen)
		if err != nil {
			return err
		}
		if organizationID != "" && about.Organization != organizationID {
			return schema.NotFound("job")
		}
		// The sequence is locked before the job's row. Enqueue locks in the same order, so that no deadlock occurs.
		if err := q.LockJobSequence(ctx, about.Sequence); err != nil {
			return postgres.Interpret(err, "jobs")
		}
		locked, err := q.LockJob(ctx, number)
		if err != nil {
			return postgres.Interpret(err, "job")
		}
		switch state := schema.JobState(locked.ShownState); state {
		case schema.JobRunning, schema.JobDone:
			return schema.Conflict("the job is " + string(state))
		case schema.JobFailed, schema.JobRetrying:
			again, err := q.RetryJob(ctx, number)
			if err != nil {
				return postgres.Interpret(err, "job")
			}
			job, err = readJob(Row(again))
			return err
		case schema.JobWaiting:
		}
		job, err = readJob(Row(locked))
		return err
	})
	return job, err
}

// Job reads a job.
func (s *Store) Job(ctx context.Context, id string) (schema.Job, error) {
	number, ok := postgres.JobID(id)
	if !ok {
		return schema.Job{}, schema.NotFound("job")
	}
	row, err := s.db.Queries.JobByID(ctx, number)
	if err != nil {
		return schema.Job{}, postgres.Interpret(err, "job")
	}
	return readJob(row)
}

// Failed returns the ids of permanently failed jobs, the oldest first. The list begins after the id `after`, or at the
// oldest job if `after` is "".
func (s *Store) Failed(ctx context.Context, after string, size int) ([]string, error) {
	from, _ := postgres.JobID(after)
	ids, err := s.db.Queries.FailedJobs(ctx, db.FailedJobsParams{After: from, PageSize: postgres.PageSize(size)})
	if err != nil {
		return nil, postgres.Interpret(err, "jobs")
	}
	texts := make([]string, len(ids))
	for i, id := range ids {
		texts[i] = postgres.JobText(id)
	}
	return texts, nil
}

// Totals has the numbers of a kind's jobs. OldestWaiting is the waiting time of the oldest job that could run. Work for
// which no job is enqueued yet is counted as a job.
type Totals struct {
	Kind          string
	Open, Failed  int64
	OldestWaiting time.Duration
}

// Totals returns the totals of every kind of job. Jobs that are done are not counted.
func (s *Store) Totals(ctx context.Context) ([]Totals, error) {
	rows, err := s.db.Queries.JobTotals(ctx)
	if err != nil {
		return nil, postgres.Interpret(err, "jobs")
	}
	// Only nodes that run jobs enqueue the jobs for webhooks. If no such node is running, no job is waiting. So
	// deliveries for which no job is enqueued are counted too.
	unasked, err := s.db.Queries.UnaskedDeliveries(ctx)
	if err != nil {
		return nil, postgres.Interpret(err, "deliveries")
	}
	deliveries := Totals{Kind: schema.DeliverWebhooks{}.Kind(), OldestWaiting: waited(unasked)}
	var totals []Totals
	for _, row := range rows {
		t := Totals{Kind: row.Kind, Open: row.Open, Failed: row.Failed, OldestWaiting: waited(row.OldestWaiting)}
		if t.Kind == deliveries.Kind {
			deliveries.Open, deliveries.Failed, deliveries.OldestWaiting = t.Open, t.Failed, max(
				t.OldestWaiting, deliveries.OldestWaiting,
			)
			continue
		}
		totals = append(totals, t)
	}
	return append(totals, deliveries), nil
}

func waited(seconds float64) time.Duration {
	return max(0, time.Duration(seconds*float64(time.Second)))
}

func aboutJob(row Row) (postgres.JobAbout, error) {
	var about postgres.JobAbout
	if err := json.Unmarshal(row.RiverJob.Metadata, &about); err != nil {
		return about, schema.Internal(fmt.Errorf("the metadata of job %d: %w", row.RiverJob.ID, err))
	}
	return about, nil
}

func readJob(row Row) (schema.Job, error) {
	about, err := aboutJob(row)
	if err != nil {
		return schema.Job{}, err
	}
	r := row.RiverJob
	job := schema.Job{
		Object: "job", ID: strconv.FormatInt(r.ID, 10), Kind: r.Kind, State: schema.JobState(row.ShownState),
		Organization: about.Organization, Space: about.Space, Attempt: int(r.Attempt), CreatedAt: r.CreatedAt.UTC(),
		StartedAt: schema.UTC(r.AttemptedAt), FinishedAt: schema.UTC(r.FinalizedAt),
	}
	if job.State == schema.JobWaiting || job.State == schema.JobRetrying {
		job.NextAttemptAt = schema.UTC(&r.ScheduledAt)
	}
	if n := len(r.Errors); n > 0 && job.State != schema.JobDone {
		var last struct {
			Error string `json:"error"`
		}
		if err := json.Unmarshal(r.Errors[n-1], &last); err != nil {
			return schema.Job{}, schema.Internal(fmt.Errorf("the errors of job %d: %w", r.ID, err))
		}
		job.Reason = last.Error
	}
	return job, nil
}

// DeleteOld deletes jobs that ended long ago, up to a limited number. `more` is true if more such jobs may be left.
func (s *Store) DeleteOld(ctx context.Context) (more bool, err error) {
	for _, old := range []db.DeleteOldJobsParams{
		{States: []string{"completed"}, Kept: postgres.Interval(schema.JobDoneKept)},
		{States: []string{"cancelled", "discarded"}, Kept: postgres.Interval(schema.JobFailedKept)},
	} {
		old.Most = postgres.PurgeRows
		n, err := s.db.Queries.DeleteOldJobs(ctx, old)
		if err != nil {
			return false, postgres.Interpret(err, "jobs")
		}
		more = more || n == postgres.PurgeRows
	}
	return more, nil
}
