package sink

import (
	"context"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/octavo-docs/octavo/ingest/retry"
	"github.com/octavo-docs/octavo/schema"
)

// RowLedger counts how many rows the events table should have. The counts are stored outside of ClickHouse. Package
// store implements RowLedger.
type RowLedger interface {
	// RowsEnd returns the offset before which the rows from a partition of the log are counted. `found` is false if the
	// ledger does not count the partition yet.
	RowsEnd(ctx context.Context, partition int) (end schema.RowsEnd, found bool, err error)
	// OpenRows begins to count a partition. It returns false if the ledger counts the partition already.
	OpenRows(ctx context.Context, partition int, end schema.RowsEnd, rows schema.RowsByMonth) (bool, error)
	// AdvanceRows adds the rows of the messages with offsets in [was, end.Next) to the ledger. If the partition's
	// offset in the ledger differs from `was`, it returns false and adds nothing.
	AdvanceRows(
		ctx context.Context, partition int, was int64, end schema.RowsEnd, rows schema.RowsByMonth,
	) (bool, error)
}

const (
	rowsEvery = 500 * time.Millisecond // shortest time between two writes to the ledger
	rowsLast  = 5 * time.Second        // time limit for the last write of a sink that stops
)

// rowCounts adds the row counts of stored cuts to the ledger, in the background. If the ledger does not answer, the
// counts stay in memory, and the sink continues to store cuts.
//
// Each range of offsets is counted once, because the ledger advances only from the offset at which the range begins. If
// the ledger lacks a range, for example because a sink was killed, rowCounts queries the store for the number of rows
// in this range. The ledger may have a number that is too low, which can hide a loss. It never has a number that is
// higher than the number of rows that the store had.
type rowCounts struct {
	ledger RowLedger // nil means that rows are not counted
	cfg    *Config
	// isOtherLog reports whether another log has replaced the log. It compares the checksum of the message before an
	// offset with `tail`.
	isOtherLog func(ctx context.Context, partition int, offset int64, tail uint64, hasTail bool) (bool, error)

	mu      sync.Mutex
	waiting map[int]*waitingRows
	wake    chan struct{}
}

// waitingRows has the numbers of stored rows of a partition that are not in the ledger of row counts yet.
type waitingRows struct {
	opened *openedRows // opened is set if this sink took over the partition before these cuts
	logEnd *atomic.Int64
	from   int64 // offset at which the first of these cuts begins
	end    schema.RowsEnd
	rows   schema.RowsByMonth // rows is nil if there are no cuts
}

// openedRows is the state of a partition at the time when a sink takes it over. All messages before `end` are stored.
// `logEnd` is the log's end at this time.
type openedRows struct {
	end    schema.RowsEnd
	logEnd int64
}

func newRowCounts(cfg *Config) *rowCounts {
	return &rowCounts{ledger: cfg.Rows, cfg: cfg, waiting: map[int]*waitingRows{}, wake: make(chan struct{}, 1)}
}

// open records that the sink takes over a partition. It drops counts of the partition that are still in memory. catchUp
// takes the number of earlier rows from the store, and the sink stores and counts the later cuts again.
func (r *rowCounts) open(p *partition) {
	if r.ledger == nil {
		return
	}
	end := schema.RowsEnd{Next: p.start, Tail: p.tail, HasTail: p.hasTail}
	r.mu.Lock()
	r.waiting[p.id] = &waitingRows{opened: &openedRows{end, p.end.Load()}, logEnd: &p.end}
	r.mu.Unlock()
	r.signal()
}

// add adds the row counts of a stored cut.
func (r *rowCounts) add(c *cut) {
	if r.ledger == nil {
		return
	}
	r.mu.Lock()
	w := r.waiting[c.partition.id]
	if w == nil {
		w = &waitingRows{logEnd: &c.partition.end}
		r.waiting[c.partition.id] = w
	}
	if w.rows == nil {
		w.from, w.rows = c.from, schema.RowsByMonth{}
	}
	w.end = schema.RowsEnd{Next: c.to, Tail: c.tail, HasTail: true}
	c.addRows(w.rows)
	r.mu.Unlock()
	r.signal()
}

func (r *rowCounts) signal() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// addRows adds the rows of a stored cut, including rows that another sink stored.
func (c *cut) addRows(to schema.RowsByMonth) {
	gone := map[uint64]int{}
	for row := range c.erased {
		m, _ := c.messageOf(row)
		gone[m.at.Offset]++
	}
	for _, refused := range c.refused {
		m, _ := c.messageOf(refused.row)
		gone[m.at.Offset]++
	}
	for _, m := range c.messages {
		month := schema.EventMonthOf(m.message.Received())
		to.Add(month, schema.MonthRows{Rows: int64(m.message.Count - gone[m.at.Offset]), First: c.firstTime})
	}
}

// run writes waiting counts to the ledger until ctx ends. Then it writes once more.
func (r *rowCounts) run(ctx context.Context) {
	if r.ledger == nil {
		return
	}
	var pace retry.LogPace
	wait := retry.Backoff{First: rowsEvery, Max: maxWait}
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-r.wake:
		}
		if err := r.write(context.WithoutCancel(ctx), attemptTimeout); err != nil {
			if pace.Due() {
				r.cfg.Logger.Warn("Cannot count the stored rows now; the numbers wait.", "error", err)
			}
			r.signal()
			wait.Sleep(ctx)
			continue
		}
		wait.Reset()
		retry.Sleep(ctx, rowsEvery)
	}
	if err := r.write(context.WithoutCancel(ctx), rowsLast); err != nil {
		r.cfg.Logger.Warn("Cannot count the last stored rows. The next sink counts them in the store.", "error", err)
	}
}

// write writes all waiting counts to the ledger.
func (r *rowCounts) write(ctx context.Context, timeout time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	r.mu.Lock()
	list := r.waiting
	r.waiting = map[int]*waitingRows{}
	r.mu.Unlock()
	var failed error
	for id, w := range list {
		if failed == nil {
			if failed = r.writePartition(ctx, id, w); failed == nil {
				continue
			}
		}
		r.mu.Lock()
		r.waiting[id] = w.followedBy(r.waiting[id])
		r.mu.Unlock()
	}
	return failed
}

// followedBy returns the sum of the counts w and of later counts of the same partition.
func (w *waitingRows) followedBy(later *waitingRows) *waitingRows {
	switch {
	case later == nil:
		return w
	case later.opened != nil || w.opened == nil && w.rows == nil:
		return later
	case w.rows == nil:
		later.opened = w.opened
		return later
	}
	for month, rows := range later.rows {
		w.rows.Add(month, rows)
	}
	w.end = later.end
	return w
}

// writePartition writes the counts of one partition to the ledger. After an error, the caller may call it again with
// the same counts.
func (r *rowCounts) writePartition(ctx context.Context, id int, w *waitingRows) error {
	if w.opened != nil {
		if err := r.catchUp(ctx, id, w.opened.end, w.opened.logEnd, w.logEnd); err != nil {
			return err
		}
		w.opened = nil
	}
	if w.rows == nil {
		return nil
	}
	end := w.end
	had, found, err := r.ledger.RowsEnd(ctx, id)
	if err != nil {
		return err
	}
	end.Mixed = had.Mixed
	if found && had.Next == w.from {
		if moved, err := r.ledger.AdvanceRows(ctx, id, w.from, end, w.rows); err != nil || moved {
			return err
		}
	}
	return r.catchUp(ctx, id, end, end.Next, w.logEnd)
}

// catchUp advances the ledger to the offset end.Next, with the number of rows that the store has before this offset. It
// does nothing if the ledger has already reached this offset. The caller has stored all messages before end.Next.
// `logEnd` is the log's end when the sink took over the partition, and `logEndNow` is its current end.
func (r *rowCounts) catchUp(
	ctx context.Context, id int, end schema.RowsEnd, logEnd int64, logEndNow *atomic.Int64,
) error {
	for {
		had, found, err := r.ledger.RowsEnd(ctx, id)
		if err != nil {
			return err
		}
		if !found {
			if end.Mixed, err = r.hasOtherLog(ctx, id, logEnd, logEndNow); err != nil {
				return err
			}
			rows, err := r.cfg.Store.Months(ctx, uint16(id), 0, uint64(end.Next))
			if err != nil {
				return err
			}
			if opened, err := r.ledger.OpenRows(ctx, id, end, rows); err != nil || opened {
				return err
			}
			continue
		}
		end.Mixed = had.Mixed
		if had.Next >= end.Next {
			other, err := r.isOtherLog(ctx, id, had.Next, had.Tail, had.HasTail)
			if err != nil || !other {
				return err
			}
			// The ledger still counts the rows of the earlier log. The new log uses the same offsets, so the store
			// cannot distinguish the rows of the two logs.
			end.Mixed = true
		}
		rows := schema.RowsByMonth{}
		if had.Next < end.Next && !had.Mixed {
			if rows, err = r.cfg.Store.Months(ctx, uint16(id), uint64(had.Next), uint64(end.Next)); err != nil {
				return err
			}
		}
		r.cfg.Logger.Info("Rows were stored that nobody counted. They are counted in the store.",
			"partition", id, "from", had.Next, "to", end.Next, "anotherLog", end.Mixed)
		if moved, err := r.ledger.AdvanceRows(ctx, id, had.Next, end, rows); err != nil || moved {
			return err
		}
	}
}

// hasOtherLog reports whether the store has rows at offsets that the log does not have. Such rows come from an earlier
// log. During this query, sinks may store messages that arrived after logEnd was read. So hasOtherLog reads the log's
// current end after the query.
func (r *rowCounts) hasOtherLog(ctx context.Context, id int, logEnd int64, logEndNow *atomic.Int64) (bool, error) {
	last, found, err := r.cfg.Store.LastStored(ctx, uint16(id), uint64(logEnd), math.MaxUint64)
	if err != nil {
		return false, fmt.Errorf("cannot ask for rows of an earlier log: %w", err)
	}
	return found && int64(last) >= logEndNow.Load(), nil
}
