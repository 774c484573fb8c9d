package jobs

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/octavo-docs/octavo/api/remote/outbound"
	"github.com/octavo-docs/octavo/schema"
)

// errGivesWay is the cause with which a job's context is cancelled if the job must give its worker to another job.
var errGivesWay = errors.New("the job gives way to others")

// turns has the jobs that run on a node, and the jobs that wait for a worker.
type turns struct {
	mu      sync.Mutex
	running map[int64]*turn
	// waiting has, by kind, the oldest job that had no worker at the last check. `looked` is the time of the last
	// check. Only `tend` uses these two fields.
	waiting map[string]int64
	looked  time.Time
}

// turn is a job that runs on this node.
type turn struct {
	kind   string
	slowAt time.Time
	// found is true if a transfer of the job is slow. `noted` is true if the database has recorded that the job is
	// slow.
	found, noted bool
	end          context.CancelCauseFunc
}

// begins records that a job runs. It returns the job's context and the function to call when the attempt ends. The
// context is cancelled when the job must give its worker to another job. If a transfer with this context is slow, the
// job is marked as slow.
func (r *Runner) begins(ctx context.Context, kind schema.JobKind, id int64) (context.Context, func()) {
	ctx, end := context.WithCancelCause(ctx)
	t := &turn{kind: kind.Name, slowAt: time.Now().Add(kind.Slow), end: end}
	r.turns.mu.Lock()
	defer r.turns.mu.Unlock()
	if r.turns.running == nil {
		r.turns.running = map[int64]*turn{}
	}
	r.turns.running[id] = t
	ctx = outbound.WhenSlow(ctx, func() {
		r.turns.mu.Lock()
		defer r.turns.mu.Unlock()
		t.found = true
	})
	return ctx, func() {
		r.turns.mu.Lock()
		delete(r.turns.running, id)
		r.turns.mu.Unlock()
		end(nil)
	}
}

// takeTurns starts the jobs whose turn has come, and stops surplus jobs. Jobs are surplus if another job of their kind
// has its turn and finds no worker. Then each organization and each user may have at most one job of the kind on this
// node. All slow jobs together may also have at most one.
func (r *Runner) takeTurns(ctx context.Context) error {
	kinds := make([]schema.JobKind, len(r.cfg.Kinds))
	for i, kind := range r.cfg.Kinds {
		kinds[i] = kind.JobKind
	}
	if err := r.deps.Store.Queue.GiveTurns(ctx, kinds); err != nil {
		return err
	}
	// takeTurns runs after each job. Surplus jobs are stopped less often: at most once in each poll interval.
	now := time.Now()
	if now.Sub(r.turns.looked) < r.cfg.Poll {
		return nil
	}
	r.turns.looked = now
	if err := r.noteSlow(ctx, now); err != nil {
		return err
	}
	full := r.full()
	if len(full) == 0 {
		r.turns.waiting = nil
		return nil
	}
	oldest, err := r.deps.Store.Queue.WithoutWorker(ctx, full)
	if err != nil {
		return err
	}
	var late []string
	for kind, job := range oldest {
		if r.turns.waiting[kind] == job {
			late = append(late, kind)
		}
	}
	r.turns.waiting = oldest
	if len(late) == 0 {
		return nil
	}
	ids, err := r.deps.Store.Queue.ToGiveWay(ctx, r.id, late)
	if err != nil {
		return err
	}
	r.turns.mu.Lock()
	defer r.turns.mu.Unlock()
	for _, id := range ids {
		if t := r.turns.running[id]; t != nil {
			t.end(errGivesWay)
		}
	}
	return nil
}

// noteSlow records in the database which jobs have become slow.
func (r *Runner) noteSlow(ctx context.Context, now time.Time) error {
	var slow []int64
	r.turns.mu.Lock()
	for id, t := range r.turns.running {
		if !t.noted && (t.found || now.After(t.slowAt)) {
			t.noted = true
			slow = append(slow, id)
		}
	}
	r.turns.mu.Unlock()
	for _, id := range slow {
		if err := r.deps.Store.Queue.MarkSlow(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

// Running returns the number of jobs that run on this node, by the kind's name.
func (r *Runner) Running() map[string]int {
	running := map[string]int{}
	r.turns.mu.Lock()
	defer r.turns.mu.Unlock()
	for _, t := range r.turns.running {
		running[t.kind]++
	}
	return running
}

// full returns the kinds whose workers on this node are all busy.
func (r *Runner) full() []string {
	running := r.Running()
	var full []string
	for _, kind := range r.cfg.Kinds {
		if running[kind.Name] >= kind.Workers {
			full = append(full, kind.Name)
		}
	}
	return full
}
