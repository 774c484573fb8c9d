package jobs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivertype"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/clock"
	"github.com/octavo-docs/octavo/store/postgres"
	"github.com/octavo-docs/octavo/store/queue"
)

// PoolConns is the number of connections that river needs for itself: one to listen, and the others to fetch jobs, to
// finish jobs and to elect a leader. They have a separate pool. In a shared pool, jobs or requests could use all
// connections, and no leader could be elected (https://github.com/riverqueue/river/issues/695).
const PoolConns = 4

// WorkConns returns the number of connections that the jobs of these kinds need. Each worker has one connection. Two
// more connections are for the node's lock and for checks of the locks of other nodes.
func WorkConns(kinds []Kind) int {
	conns := 2
	for _, k := range kinds {
		conns += k.Workers
	}
	return conns
}

// Config has the settings of a Runner. Deps, Pool and Log are required. For other members, zero means the default.
type Config struct {
	Deps Deps
	// Pool is the pool of PoolConns connections that only river uses.
	Pool *pgxpool.Pool
	Log  *slog.Logger
	// Kinds are the kinds that run; nil means all.
	Kinds   []Kind
	Metrics *Metrics
	// Grace is the time for which Stop waits for running jobs; 0 means 10 s.
	Grace time.Duration
	// Poll is the interval at which the runner searches for jobs that wait for their turn. It also searches for jobs
	// about which it was not notified. 0 means 1 s.
	Poll time.Duration
	// Settle is the time between a change and the notification of front ends; 0 means none. After this time, no node
	// has cached answers from before the change.
	Settle time.Duration
	// LostAfter is the time after which a node without its lock is treated as lost, and other nodes run its jobs again;
	// 0 means 10 s.
	LostAfter time.Duration
	// Pause is the time between two attempts; nil means a pause that grows from a second to an hour.
	Pause func(attempt int) time.Duration
	// Ended is called after each attempt, when its result is stored. It gets the state of the job.
	Ended func(schema.JobState)
	// instead is a function of a test. It is called instead of the work of every kind.
	instead func(context.Context, schema.JobArgs) error
}

// Runner runs the jobs of a node between Start and Stop.
type Runner struct {
	cfg    Config
	deps   Deps
	log    *slog.Logger
	id     string
	client *river.Client[pgx.Tx]
	lock   *postgres.Lock
	// kick makes `tend` run before the next poll.
	kick   chan struct{}
	cancel context.CancelFunc
	done   sync.WaitGroup
	turns  turns
}

// New builds a Runner.
func New(cfg Config) (*Runner, error) {
	if cfg.Deps.Store == nil || cfg.Pool == nil || cfg.Log == nil {
		return nil, errors.New("cannot build jobs: store, pool and log are required")
	}
	if cfg.Kinds == nil {
		cfg.Kinds = Kinds()
	}
	cfg.Grace, cfg.Poll, cfg.LostAfter = orDefault(cfg.Grace, 10*time.Second), orDefault(cfg.Poll, time.Second), orDefault(cfg.LostAfter, 10*time.Second)
	if cfg.Pause == nil {
		cfg.Pause = pause
	}
	if cfg.Deps.Encoder == nil {
		cfg.Log.Warn("The node has no model, so its jobs group conversations by words alone, with worse results. " +
			"`make engines` downloads the model.")
		if cfg.Metrics != nil {
			cfg.Metrics.wordsAlone.Set(1)
		}
	}
	r := &Runner{cfg: cfg, deps: cfg.Deps, log: cfg.Log, id: schema.NewID(), kick: make(chan struct{}, 1)}
	workers, queues, longest := river.NewWorkers(), map[string]river.QueueConfig{}, time.Duration(0)
	for _, k := range cfg.Kinds {
		if err := k.add(k.JobKind, workers, r); err != nil {
			return nil, fmt.Errorf("cannot build jobs: %w", err)
		}
		queues[k.Name] = river.QueueConfig{MaxWorkers: k.Workers}
		longest = max(longest, k.Timeout)
	}
	var err error
	r.client, err = river.NewClient(riverpgxv5.New(cfg.Pool), &river.Config{
		ID: r.id, Logger: slog.New(quiet{cfg.Log.Handler()}), Queues: queues, Workers: workers,
		FetchPollInterval: cfg.Poll, FetchCooldown: min(cfg.Poll, river.FetchCooldownDefault), SoftStopTimeout: cfg.Grace,
		CompletedJobRetentionPeriod: keptByRiver,
		DiscardedJobRetentionPeriod: keptByRiver, CancelledJobRetentionPeriod: keptByRiver,
		JobTimeout: longest, RescueStuckJobsAfter: longest + 5*time.Minute,
		RetryPolicy: retryPolicy{cfg.Pause},
	})
	if err != nil {
		return nil, fmt.Errorf("cannot build jobs: %w", err)
	}
	return r, nil
}

// keptByRiver is a retention period that prevents river from deleting ended jobs. The sweep deletes them, because it
// does not trust a clock that is ahead.
const keptByRiver = -1

// Start runs jobs until Stop.
func (r *Runner) Start(ctx context.Context) error {
	// The node takes its lock before it runs jobs, because other nodes rerun the jobs of a node without a lock.
	if err := r.live(ctx); err != nil {
		return fmt.Errorf("cannot start jobs: %w", err)
	}
	ended, unsubscribe := r.client.Subscribe(river.EventKindJobCompleted, river.EventKindJobFailed, river.EventKindJobCancelled,
		river.EventKindJobInterrupted, river.EventKindJobSnoozed)
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	r.cancel = cancel
	if err := r.client.Start(running); err != nil {
		cancel()
		return errors.Join(fmt.Errorf("cannot start jobs: %w", err), r.lock.Release(ctx))
	}
	r.done.Go(func() { r.listen(running, ended); unsubscribe() })
	r.done.Go(func() { r.tend(running) })
	return nil
}

// Stop starts no more jobs. It waits for running jobs for Config.Grace, and then cancels them. Another node runs the
// cancelled jobs again.
func (r *Runner) Stop(ctx context.Context) error {
	err := r.client.Stop(ctx)
	r.cancel()
	r.done.Wait()
	if r.lock != nil {
		err = errors.Join(err, r.lock.Release(ctx))
	}
	return err
}

// live takes the lock that shows other nodes that this node is running. If the node already has the lock, live does
// nothing.
func (r *Runner) live(ctx context.Context) (err error) {
	if r.lock != nil {
		if r.lock.Holds(ctx) == nil {
			return nil
		}
		_ = r.lock.Release(ctx) // The session that had the lock has ended.
	}
	r.lock, err = r.deps.Store.TryLock(ctx, queue.NodeLock(r.id))
	return err
}

// listen records the metrics of each ended attempt, and makes `tend` run, so that a waiting job can start.
func (r *Runner) listen(ctx context.Context, ended <-chan *river.Event) {
	for {
		select {
		case <-ctx.Done():
			return
		case event, ok := <-ended:
			if !ok {
				return
			}
			select {
			case r.kick <- struct{}{}:
			default:
			}
			state := outcome(event)
			r.cfg.Metrics.ended(event.Job.Kind, state, event.JobStats.RunDuration)
			if r.cfg.Ended != nil {
				r.cfg.Ended(state)
			}
		}
	}
}

// outcome returns the state of a job after an attempt.
func outcome(event *river.Event) schema.JobState {
	switch event.Kind {
	case river.EventKindJobCompleted:
		return schema.JobDone
	case river.EventKindJobInterrupted, river.EventKindJobSnoozed:
		return schema.JobWaiting
	default:
		if event.Job.State == rivertype.JobStateDiscarded || event.Job.State == rivertype.JobStateCancelled {
			return schema.JobFailed
		}
		return schema.JobRetrying
	}
}

// tend does the periodic work that river does not do. It gives turns, reruns the jobs of lost nodes, and enqueues jobs
// for changes, webhooks and specifications that are due.
func (r *Runner) tend(ctx context.Context) {
	tick := time.NewTicker(r.cfg.Poll)
	defer tick.Stop()
	lost, looked := map[string]time.Time{}, time.Time{}
	for {
		var err error
		now := time.Now()
		due := now.Sub(looked) >= r.cfg.LostAfter/4
		if due { // This comes before jobs start, because jobs compare times.
			err = r.hasten(ctx)
		}
		if err == nil {
			err = r.takeTurns(ctx)
		}
		if err == nil && r.deps.FrontEnds != nil {
			err = r.deps.Store.Hooks.AskForRevalidation(ctx, r.cfg.Settle)
		}
		if err == nil && r.deps.Specs != nil && r.deps.SpecsInterval > 0 {
			err = r.deps.Store.Specs.AskForFetches(ctx)
		}
		if err == nil && r.deps.Webhooks != nil {
			err = r.deps.Store.Hooks.AskForDeliveries(ctx)
		}
		if err == nil && due {
			looked = now
			if err = r.live(ctx); err == nil {
				lost, err = r.rescue(ctx, now, lost)
			}
		}
		if err != nil && ctx.Err() == nil {
			r.log.Warn("Cannot look after jobs; trying again.", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-r.kick:
		}
	}
}

// hasten corrects times in the database that are too far in the future because the clock was set back. Without this,
// jobs, fetches and deliveries would wait for these times.
func (r *Runner) hasten(ctx context.Context) error {
	columns, err := r.deps.Store.Clock.Hasten(ctx, longestPauses(r.deps.SpecsInterval))
	if len(columns) > 0 {
		r.log.Warn("Rows had times that lie far ahead, as after the clock was set back. The times are corrected, so "+
			"that nothing waits for them.", "rows", columns)
	}
	return err
}

// longestPauses returns pauses that are longer than any pause that a node sets. `specs` is the interval between two
// fetches of a specification.
func longestPauses(specs time.Duration) clock.Pauses {
	return clock.Pauses{Job: 2 * longestPause, Fetch: 2 * max(specs, unpolledSpecs)}
}

// rescue lets the jobs of lost nodes run again. A node is lost if it has no lock for Config.LostAfter. A node that has
// only lost its connection takes its lock again before that. `before` has the time since which each node has had no
// lock. `rescue` returns the new times.
func (r *Runner) rescue(ctx context.Context, now time.Time, before map[string]time.Time) (map[string]time.Time, error) {
	nodes, err := r.deps.Store.Queue.LostNodes(ctx)
	if err != nil {
		return before, err
	}
	since := map[string]time.Time{}
	var gone []string
	for _, node := range nodes {
		first, known := before[node]
		if !known {
			first = now
		}
		since[node] = first
		if now.Sub(first) >= r.cfg.LostAfter {
			gone = append(gone, node)
		}
	}
	if len(gone) == 0 {
		return since, nil
	}
	rescued, err := r.deps.Store.Queue.Rescue(ctx, gone)
	if rescued > 0 {
		r.log.Warn("Nodes ended while they ran jobs; the jobs run again.", "nodes", gone, "jobs", rescued)
	}
	return since, err
}

// retryPolicy tells river when to retry.
type retryPolicy struct {
	pause func(attempt int) time.Duration
}

// NextRetry returns the time of a failed job's next attempt.
func (p retryPolicy) NextRetry(job *rivertype.JobRow) time.Time {
	return time.Now().Add(p.pause(job.Attempt))
}

const longestPause = time.Hour

// pause is 1 s, 16 s, 81 s, 256 s and so on, up to an hour. It is extended by up to a tenth at random, so that jobs
// that failed at the same time are retried at different times.
func pause(attempt int) time.Duration {
	seconds := min(math.Pow(float64(attempt), 4), longestPause.Seconds())
	return time.Duration(seconds * (1 + rand.Float64()/10) * float64(time.Second))
}

func orDefault(d, absent time.Duration) time.Duration {
	if d > 0 {
		return d
	}
	return absent
}

// quiet is a log handler for river that drops messages below a warning. The runner itself logs failed jobs with their
// causes.
type quiet struct{ slog.Handler }

// Enabled reports whether a message of this level is logged: only warnings and errors are.
func (q quiet) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn && q.Handler.Enabled(ctx, level)
}

// WithAttrs returns a handler that also drops messages below a warning.
func (q quiet) WithAttrs(attrs []slog.Attr) slog.Handler { return quiet{q.Handler.WithAttrs(attrs)} }

// WithGroup returns a handler that also drops messages below a warning.
func (q quiet) WithGroup(name string) slog.Handler { return quiet{q.Handler.WithGroup(name)} }
