package queue

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/postgres"
)

// GiveTurns lets jobs start whose turn has come. Nodes do so one at a time: it does nothing while another does.
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

// MarkSlow notes that a running job is slow: all slow jobs of a kind are one party from then on.
func (s *Store) MarkSlow(ctx context.Context, id int64) error {
	return postgres.Interpret(s.db.Queries.JobIsSlow(ctx, id), "job")
}

// WithoutWorker gives, by kind, the oldest job whose turn has come and that no node has taken.
func (s *Store) WithoutWorker(ctx context.Context, kinds []string) (map[string]int64, error) {
	rows, err := s.db.Queries.JobsWithoutWorker(ctx, kinds)
	oldest := map[string]int64{}
	for _, row := range rows {
		oldest[row.Queue] = row.ID
	}
	return oldest, postgres.Interpret(err, "jobs")
}

// ToGiveWay gives the jobs of a node that others may ask to give way, at most one of each kind.
func (s *Store) ToGiveWay(ctx context.Context, node string, kinds []string) ([]int64, error) {
	ids, err := s.db.Queries.JobsToGiveWay(ctx, db.JobsToGiveWayParams{Node: node, Kinds: kinds})
	return ids, postgres.Interpret(err, "jobs")
}

// NodeLock returns the name of the lock (see store.TryLock) that a node holds as long as it runs jobs. Other nodes
// rescue the jobs of a node that does not hold it.
func NodeLock(node string) string { return "jobs node " + node }

// LostNodes gives the nodes that have jobs running and do not hold their lock.
func (s *Store) LostNodes(ctx context.Context) ([]string, error) {
	nodes, err := s.db.Queries.LostJobNodes(ctx)
	return nodes, postgres.Interpret(err, "jobs")
}

// Rescue lets the jobs of lost nodes run again, and returns how many there were. Git operations and translation runs
// fail with the jobs that were at their last attempt.
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
