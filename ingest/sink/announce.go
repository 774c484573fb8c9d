package sink

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/octavo-docs/octavo/ingest/eventstore"
	"github.com/octavo-docs/octavo/ingest/retry"
)

const (
	// ReaderEvery is the time between two heartbeats of a node that reads notices.
	ReaderEvery = 10 * time.Second
	readerGone  = 3 * ReaderEvery // time without a heartbeat after which a node counts as ended
	readerPoll  = 100 * time.Millisecond
)

// leavingPart is the notice of a part of the events table.
type leavingPart struct {
	notice int64
	leaves bool // whether the part may leave the table at any time, because SetAside has begun
}

// leaves records that a part may leave the table from now on. A part may leave even after SetAside returns an error.
func (m *Mender) leaves(p eventstore.Part) {
	m.notices[p.Name] = leavingPart{m.notices[p.Name].notice, true}
}

// stays records that a part is still in the table, or that it has left. So its notice may end.
func (m *Mender) stays(p eventstore.Part) {
	if of, found := m.notices[p.Name]; found {
		m.notices[p.Name] = leavingPart{of.notice, false}
	}
}

// leaving reports whether a part may still leave the table.
func (m *Mender) leaving() bool {
	for _, of := range m.notices {
		if of.leaves {
			return true
		}
	}
	return false
}

// settle looks which of the leaving parts have left the table.
func (m *Mender) settle(ctx context.Context) error {
	for name, of := range m.notices {
		if !of.leaves {
			continue
		}
		parts, err := m.cfg.Table.Parts(ctx, name)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(parts, func(p eventstore.Part) bool { return !p.Derived() }) {
			m.stays(eventstore.Part{Name: name})
		}
	}
	return nil
}

// note records that the rows of a part will leave the events table. If the part has a notice, it records nothing,
// because every notice adds to the reported loss. Another process may have deleted the notice.
func (m *Mender) note(ctx context.Context, p eventstore.Part) (notice int64, err error) {
	if of, found := m.notices[p.Name]; found {
		if rows, _, err := m.cfg.Ledger.Leaving(ctx); err != nil || rows > 0 {
			return of.notice, err
		}
	}
	if notice, err = m.cfg.Ledger.NoteLeaving(ctx, int64(p.Rows)); err == nil {
		m.notices[p.Name] = leavingPart{notice, false}
	}
	return notice, err
}

// announce records how many rows will leave the events table, and waits until every running node has read this notice.
// Then every query result without these rows reports that they are missing. A node without heartbeats counts as ended.
func (m *Mender) announce(ctx context.Context, p eventstore.Part) error {
	rows := p.Rows
	notice, err := m.note(ctx, p)
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
