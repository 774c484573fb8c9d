package eventstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/octavo-docs/octavo/schema/insights"
)

// LayoutConfig says how the events table is moved to the present layout. A zero member takes
// the default named beside it.
type LayoutConfig struct {
	Conn driver.Conn // required; the caller closes it
	// Topology must be a single server.
	Topology insights.Topology
	// OlderMembers reports whether the sinks' group may have a member of an older version,
	// which would take the hold for a fault of its rows. Required.
	OlderMembers func(context.Context) (bool, error)
	// Holds returns an error once another process may also move the table. Required.
	Holds   func(context.Context) error
	Metrics *Metrics // nil counts nothing
	Logger  *slog.Logger

	Block     uint64        // offsets of a partition that are copied together; 131,072
	MaxHold   time.Duration // how long inserts may be held before the move is abandoned and retried; 5 min
	HoldBelow uint64        // rows left to copy at which inserts are held; 200,000
	step      func(name string) error
	check     func() (events, visits string) // insights.VisitsCheck
}

// Layout moves the events table to the present layout while sinks insert and users query.
// It copies the rows into another table, piece by piece, until few are left. Then it holds
// inserts, copies the rest, checks that both tables have the same rows, and exchanges
// their names atomically. All its state is in the tables: a piece is copied if the tables
// differ in it. So another process can continue where a killed one stopped.
//
// A table that has the present keys, but texts that are not stored as in a new table, is
// altered: the engine rewrites those columns while inserts and queries go on.
type Layout struct {
	cfg   LayoutConfig
	store *ClickHouse
	// before is what the new table had of a piece when it was last copied.
	before map[piece]amount
}

// NewLayout builds a mover. It starts nothing.
func NewLayout(cfg LayoutConfig) (*Layout, error) {
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	cfg.Block = cmp.Or(cfg.Block, 1<<17)
	cfg.MaxHold = cmp.Or(cfg.MaxHold, 5*time.Minute)
	cfg.HoldBelow = cmp.Or(cfg.HoldBelow, 200_000)
	if cfg.OlderMembers == nil || cfg.Holds == nil {
		return nil, errors.New("cannot move the events table without knowing who else works on it")
	}
	if cfg.step == nil {
		cfg.step = func(string) error { return nil }
	}
	if cfg.check == nil {
		cfg.check = insights.VisitsCheck
	}
	store, err := New(Config{Conn: cfg.Conn, Cluster: cfg.Topology.Cluster})
	if err != nil {
		return nil, err
	}
	return &Layout{cfg: cfg, store: store, before: map[piece]amount{}}, nil
}

// ErrOlderMembers: a sink of an earlier version runs, so the table is not moved.
var ErrOlderMembers = errors.New("a sink of an earlier version may run: the events table keeps its layout until all are upgraded")

// ErrClusterLayout: only its operator can move the table of a cluster.
var ErrClusterLayout = errors.New("the events table of a cluster keeps its layout, which goes on working")

// heldConstraint refuses every insert into a table and lets queries go on. Insert waits
// while the table has it.
const heldConstraint = "octavo_held"

// Current reports whether the table has the present layout, and no move is unfinished.
func (l *Layout) Current(ctx context.Context) (bool, error) {
	events, err := l.table(ctx, l.cfg.Topology.LocalTable())
	if err != nil {
		return false, err
	}
	next, err := l.table(ctx, insights.NextTable)
	return events.current() && len(l.alterations(events)) == 0 && len(l.projections(events)) == 0 && !next.exists && err == nil, err
}

func (l *Layout) alterations(t tableLayout) []string {
	return insights.RepeatedStatements(l.cfg.Topology, t.columns)
}

func (l *Layout) projections(t tableLayout) []string {
	return insights.VisitsStatements(l.cfg.Topology, t.visits, t.bare > 0 && !t.projecting)
}

// Move moves the table to the present layout. It may be called again after any error.
// ErrOlderMembers, and the errors about a full disk or a table that is not ours, leave
// everything unchanged.
func (l *Layout) Move(ctx context.Context) error {
	events, err := l.table(ctx, l.cfg.Topology.LocalTable())
	if err != nil {
		return err
	}
	if l.cfg.Topology.Cluster != "" {
		if statements := l.alterations(events); events.current() && len(statements) > 0 {
			return fmt.Errorf("%w: to change it while inserts and queries go on, run %s", ErrClusterLayout, strings.Join(statements, "; "))
		}
		return fmt.Errorf("%w: to change it, stop the sinks, create a table with the present layout on each node (ON CLUSTER), copy the rows, and exchange the two", ErrClusterLayout)
	}
	next, err := l.table(ctx, insights.NextTable)
	if err != nil {
		return err
	}
	switch {
	case !events.exists:
		return errors.New("cannot move the events table: there is none")
	case events.current() && next.exists:
		err = l.finish(ctx, next)
	case !events.current():
		if err = l.check(ctx, events, next); err == nil {
			err = l.move(ctx, events)
		}
	}
	if err != nil {
		return err
	}
	if err := l.alter(ctx); err != nil {
		return err
	}
	return l.project(ctx)
}

// project gives the table the present projection of visits. The engine makes it part by
// part, and queries read events until every part has it.
func (l *Layout) project(ctx context.Context) error {
	events, err := l.table(ctx, insights.Table)
	if err != nil {
		return err
	}
	statements := l.projections(events)
	for _, statement := range statements {
		if err := l.cfg.Holds(ctx); err != nil {
			return err
		}
		if err := l.do(ctx, "project", statement); err != nil {
			return err
		}
	}
	if len(statements) > 0 {
		l.cfg.Logger.Info("The events table has a new projection of visits: the engine makes it for old rows while inserts and queries go on.", "rows", events.rows)
	}
	return nil
}

// alter changes the types of columns. The statement ends at once, and the engine
// rewrites the parts when it can, also after a restart. Until then a part is read as if
// it had the table's types. So the table needs neither room for a copy nor a hold, and
// keeps the tokens of its inserts.
func (l *Layout) alter(ctx context.Context) error {
	events, err := l.table(ctx, insights.Table)
	if err != nil {
		return err
	}
	for _, statement := range l.alterations(events) {
		if older, err := l.cfg.OlderMembers(ctx); err != nil || older {
			return errors.Join(ErrOlderMembers, err)
		}
		if err := l.cfg.Holds(ctx); err != nil {
			return err
		}
		if err := l.do(ctx, "alter", statement); err != nil {
			return err
		}
		l.cfg.Logger.Info("The events table has new types of columns: the engine rewrites its rows while inserts and queries go on.", "rows", events.rows)
	}
	return nil
}

func (l *Layout) move(ctx context.Context, events tableLayout) error {
	log := l.cfg.Logger
	if older, err := l.cfg.OlderMembers(ctx); err != nil || older {
		if events.held {
			// The mover that held the inserts is gone, and the older sink would dead-letter
			// their rows.
			return errors.Join(ErrOlderMembers, err, l.release(ctx))
		}
		return errors.Join(ErrOlderMembers, err)
	}
	if err := l.do(ctx, "create", insights.NextStatement(l.cfg.Topology)); err != nil {
		return err
	}
	began := time.Now()
	log.Info("Moving the events table to another layout: rows are copied while inserts and queries go on.",
		"from", events.partition, "to", insights.PartitionKey, "rows", events.rows)
	for {
		left, err := l.copyDifferences(ctx, events)
		if err != nil {
			return err
		}
		if left <= l.cfg.HoldBelow {
			break
		}
	}
	// Ask again, as late as possible.
	if older, err := l.cfg.OlderMembers(ctx); err != nil || older {
		return errors.Join(ErrOlderMembers, err, l.release(ctx))
	}
	if err := l.switchOver(ctx, events); err != nil {
		return err
	}
	next, err := l.table(ctx, insights.NextTable)
	if err != nil {
		return err
	}
	if err := l.finish(ctx, next); err != nil {
		return err
	}
	log.Info("The events table has the new layout.", "took", time.Since(began).Round(time.Millisecond))
	return nil
}

// switchOver exchanges the tables while inserts are held. If it fails, inserts go on, and
// the tables show what it did.
func (l *Layout) switchOver(ctx context.Context, events tableLayout) (err error) {
	holding, cancel := context.WithTimeout(ctx, l.cfg.MaxHold)
	defer cancel()
	began := time.Now()
	if err := l.do(holding, "hold", "ALTER TABLE "+insights.Table+" ADD CONSTRAINT IF NOT EXISTS "+heldConstraint+" CHECK 0"); err != nil {
		return errors.Join(err, l.release(ctx))
	}
	err = func() error {
		// Inserts that began before the constraint do not see it.
		if err := l.store.Settle(holding); err != nil {
			return err
		}
		for {
			left, err := l.copyDifferences(holding, events)
			if err != nil {
				return err
			}
			if left == 0 {
				break
			}
		}
		if err := l.cfg.Holds(holding); err != nil {
			return err
		}
		return l.do(holding, "exchange", "EXCHANGE TABLES "+insights.Table+" AND "+insights.NextTable)
	}()
	if err != nil {
		return errors.Join(fmt.Errorf("cannot exchange the events table: %w", err), l.release(ctx))
	}
	l.cfg.Logger.Info("Exchanged the events table for the one with the new layout.", "inserts held", time.Since(began).Round(time.Millisecond))
	return nil
}

// release lets inserts into a table with the old layout again, even if ctx is done: there
// may be no other process to do it.
func (l *Layout) release(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
	defer cancel()
	events, err := l.table(ctx, insights.Table)
	if err != nil || events.current() {
		return err
	}
	return l.do(ctx, "release", "ALTER TABLE "+insights.Table+" DROP CONSTRAINT IF EXISTS "+heldConstraint)
}

// finish drops the old table, which has the other's name since the exchange. The hold on it
// proves that it is the exchanged one, whose rows the new table has.
func (l *Layout) finish(ctx context.Context, old tableLayout) error {
	if old.current() || !old.held {
		return fmt.Errorf("cannot finish the move of the events table: %s is not the table that was exchanged; look at it and drop it", insights.NextTable)
	}
	if err := l.cfg.Holds(ctx); err != nil {
		return err
	}
	// Not SYNC: it waits for queries that still read the table, in the embedded engine for ever.
	return l.do(ctx, "drop", "DROP TABLE IF EXISTS "+insights.NextTable+" SETTINGS max_table_size_to_drop = 0")
}

// stepMost bounds one statement. It also makes the driver wait longer than its own five
// minutes for an answer.
const stepMost = time.Hour

// do runs a statement that changes something.
func (l *Layout) do(ctx context.Context, name, statement string) error {
	if err := l.cfg.step("before " + name); err != nil {
		return err
	}
	long, cancel := context.WithTimeout(ctx, stepMost)
	defer cancel()
	if err := l.cfg.Conn.Exec(long, statement); err != nil {
		return fmt.Errorf("cannot move the events table (%s): %w", name, err)
	}
	return l.cfg.step("after " + name)
}
