package queue

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/postgres"
)

// GiveTurns gives turns to waiting jobs, which may then start. If another node is giving turns, GiveTurns does nothing.
func (s *Store) GiveTurns(ctx context.Context, kinds []schema.JobKind) error {
	var p db.GiveJobTurnsParams
	for _, kind := range kinds {
		p.Kinds, p.Workers = append(p.Kinds, kind.Name), append(p.Workers, int32(kind.Workers))
	}
	return s.db.InTx(ctx, func(_ pgx.Tx, q *db.Queries) error {
		mine, err := q.LockJobPromotion(ctx)
		if err != nil || !mine {
			return err
		}
		_, err = q.GiveJobTurns(ctx, p)
		return err
	})
}

// MarkSlow records that a running job is slow. All slow jobs of a kind belong to one party (see job_parties in
// store/functions/jobs.sql), so they take turns with each other.
func (s *Store) MarkSlow(ctx context.Context, id int64) error {
	return postgres.Interpret(s.db.Queries.JobIsSlow(ctx, id), "job")
}

// WithoutWorker returns the oldest job of each kind that has a turn but no worker, by kind.
func (s *Store) WithoutWorker(ctx context.Context, kinds []string) (map[string]int64, error) {
	rows, err := s.db.Queries.JobsWithoutWorker(ctx, kinds)
	oldest := map[string]int64{}
	for _, row := range rows {
		oldest[row.Queue] = row.ID
	}
	return oldest, postgres.Interpret(err, "jobs")
}

// ToGiveWay returns running jobs of a node that must stop so that waiting jobs can run, at most one job of each kind.
func (s *Store) ToGiveWay(ctx context.Context, node string, kinds []string) ([]int64, error) {
	ids, err := s.db.Queries.JobsToGiveWay(ctx, db.JobsToGiveWayParams{Node: node, Kinds: kinds})
	return ids, postgres.Interpret(err, "jobs")
}

// NodeLock returns the name of the lock (see TryLock) that a node holds while it runs jobs. If the node does not hold
// its lock, other nodes rescue its jobs.
func NodeLock(node string) string { return "jobs node " + node }

// LostNodes returns the nodes that have running jobs but do not hold their lock.
func (s *Store) LostNodes(ctx context.Context) ([]string, error) {
	nodes, err := s.db.Queries.LostJobNodes(ctx)
	return nodes, postgres.Interpret(err, "jobs")
}

// Rescue lets the jobs of lost nodes run again, and returns their number. Git operations and translation runs fail if
// their jobs have no attempt left.
func (s *Store) Rescue(ctx context.Context, nodes []string) (n int, err error) {
	err = s.db.InTx(ctx, func(_ pgx.Tx, q *db.Queries) error {
		ids, err := q.RescueJobs(ctx, db.RescueJobsParams{Reason: postgres.JobLost, Nodes: nodes})
		if n = len(ids); n == 0 {
			return postgres.Interpret(err, "jobs")
		}
		if err := q.FailLostGitOperations(ctx, postgres.JobLost); err != nil {
			return postgres.Interpret(err, "git operations")
		}
		return postgres.Interpret(q.FailLostTranslationRuns(ctx, postgres.JobLost), "translation runs")
	})
	return n, err
}
