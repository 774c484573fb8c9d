package eventstore

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/octavo-docs/octavo/ingest/retry"
)

const (
	visitsEvery = time.Minute      // pause between two checks of the projection
	visitsRetry = 10 * time.Second // pause after a failure, or while another node has the lock
	visitsReady = time.Second      // pause while the events table cannot be used
)

// VisitsKeeperConfig configures a VisitsKeeper. The fields Conn, Lock, Busy and Ready are required.
type VisitsKeeperConfig struct {
	Conn    driver.Conn // the caller closes it
	Cluster string
	Lock    Locks
	Busy    func(error) bool // whether an error of Lock means that another node has the lock
	Ready   func() bool      // whether the events table can be used
	Metrics *Metrics         // if Metrics is nil, nothing is counted
	Logger  *slog.Logger     // if Logger is nil, nothing is logged
}

// VisitsKeeper builds the events table's projection of visits, and then checks the projection at intervals.
type VisitsKeeper struct{ cfg VisitsKeeperConfig }

// NewVisitsKeeper builds a keeper. It starts nothing.
func NewVisitsKeeper(cfg VisitsKeeperConfig) *VisitsKeeper {
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	return &VisitsKeeper{cfg: cfg}
}

// Run works until ctx ends. If another node has the lock, Run tries again later.
func (k *VisitsKeeper) Run(ctx context.Context) {
	never := func(*Visits, context.Context) (bool, error) { return false, nil }
	idle, do := (*Visits).Kept, (*Visits).Keep
	wait := visitsRetry // the pause until the events table has the projection
	for ctx.Err() == nil {
		if !k.cfg.Ready() {
			retry.Sleep(ctx, visitsReady)
			continue
		}
		err := k.with(ctx, idle, do)
		if err == nil {
			idle, do = never, (*Visits).Check
			wait = visitsEvery
		} else if ctx.Err() == nil && !k.cfg.Busy(err) {
			k.cfg.Logger.Warn("The projection of visits could not be checked.", "error", err)
		}
		retry.Sleep(ctx, wait)
	}
}

// with runs `do` while it holds the lock. If `idle` reports that there is no work, it does not run `do`.
func (k *VisitsKeeper) with(ctx context.Context,
	idle func(*Visits, context.Context) (bool, error), do func(*Visits, context.Context) error,
) (err error) {
	topology, err := TopologyOf(ctx, k.cfg.Conn, k.cfg.Cluster)
	if err != nil {
		return err
	}
	var holds func(context.Context) error
	visits, err := NewVisits(VisitsConfig{
		Conn: k.cfg.Conn, Topology: topology, Metrics: k.cfg.Metrics, Logger: k.cfg.Logger,
		Holds: func(ctx context.Context) error { return holds(ctx) },
	})
	if err != nil {
		return err
	}
	if nothing, err := idle(visits, ctx); nothing || err != nil {
		return err
	}
	var release func() error
	if holds, release, err = k.cfg.Lock(ctx, VisitsLock); err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, release()) }()
	return do(visits, ctx)
}
