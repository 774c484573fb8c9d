package sink

import (
	"context"
	"fmt"
	"time"

	"github.com/octavo-docs/octavo/ingest/retry"
)

const (
	// ReaderEvery is the time between two heartbeats of a node that reads notices.
	ReaderEvery = 10 * time.Second
	readerGone  = 3 * ReaderEvery // time without a heartbeat after which a node counts as ended
	readerPoll  = 100 * time.Millisecond
)

// announce records how many rows will leave the events table, and waits until every running node has read this notice.
// Then every query result without these rows reports that they are missing. A node without heartbeats counts as ended.
func (m *Mender) announce(ctx context.Context, rows int64) error {
	notice, err := m.cfg.Ledger.NoteLeaving(ctx, rows)
	if err == nil {
		err = m.cfg.Noted(ctx)
	}
	if err != nil {
		return fmt.Errorf("cannot announce that %d rows leave the table: %w", rows, err)
	}
	type life struct {
		beat  int64
		since time.Time
	}
	seen := map[string]life{}
	for {
		waiting, err := m.cfg.Ledger.ReadersBefore(ctx, notice)
		if err != nil {
			return fmt.Errorf("cannot ask which nodes know that %d rows leave the table: %w", rows, err)
		}
		if len(waiting) == 0 {
			return nil
		}
		for node, beat := range waiting {
			had, found := seen[node]
			switch {
			case !found || had.beat != beat:
				seen[node] = life{beat, time.Now()}
			case time.Since(had.since) > m.cfg.gone:
				if err := m.cfg.Ledger.ForgetReader(ctx, node); err != nil {
					return err
				}
			}
		}
		retry.Sleep(ctx, readerPoll)
		if ctx.Err() != nil {
			return fmt.Errorf("not every node knows yet that %d rows leave the table: %w", rows, ctx.Err())
		}
	}
}
