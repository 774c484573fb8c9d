package sink

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/cespare/xxhash/v2"

	"github.com/octavo-docs/octavo/ingest/eventstore"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/insights"
)

// Repair does the same as Run. It also inserts the log's events that have no row, for example after a restored backup.
// It repairs only messages before the committed offsets, so it does not touch a sink's uncertain cut. Repeats and dead
// letters do not count as missing.
//
// Repair may be interrupted and repeated. Before each insert it waits for running inserts, and reads from the table
// which rows are missing. Two concurrent repairs could find the same events missing, so the caller holds a lock. holds
// returns an error once the lock is lost. The eraser takes the same lock before it deletes rows, so the caller reads
// Config.Erased under it. Repair also restores rows that an operator deleted.
func (r *Reconciler) Repair(ctx context.Context, from int64, holds func(context.Context) error, report func(Difference) error) ([]Reconciled, error) {
	if !r.cfg.Store.Sequential() {
		return nil, errors.New("cannot repair the table of a cluster: a replica that is behind would show rows as missing that it gets later. Stop the sinks and set the group's offsets back instead: they look for each row by its position")
	}
	return r.run(ctx, from, holds, report)
}

// maxRepairs is the largest number of tokens that a repair tries for the same rows. The engine drops an insert with an
// earlier repair's token.
const maxRepairs = 100

// missingRow is an event without a row.
type missingRow struct {
	of    int // index of the event's message in pending
	index int
	day   schema.MissingDay
}

// repair inserts the missing events of the pending messages. It returns the rows that are then stored, and the number
// of restored rows at each offset.
func (p *reconciling) repair(ctx context.Context, stored storedRows) (storedRows, map[int64]int64, error) {
	missing, err := p.missing(ctx, stored)
	if err != nil || len(missing) == 0 {
		return stored, nil, err
	}
	// A missing row may be in a running insert of a killed repair, or of a sink that has lost the partition.
	if err := p.r.cfg.Store.Settle(ctx); err != nil {
		return nil, nil, err
	}
	if stored, err = p.stored(ctx); err == nil {
		missing, err = p.missing(ctx, stored)
	}
	if err == nil {
		err = p.store(ctx, missing, &stored)
	}
	if err != nil {
		return nil, nil, err
	}
	left, err := p.missing(ctx, stored)
	restored := map[int64]int64{}
	for _, m := range missing {
		restored[p.pending[m.of].offset]++
	}
	for _, m := range left {
		restored[p.pending[m.of].offset]--
	}
	p.countRestored(missing, left)
	return stored, restored, err
}

// missing returns the pending messages' events that lack their row, in the log's order.
func (p *reconciling) missing(ctx context.Context, stored storedRows) (list []missingRow, err error) {
	for of, l := range p.pending {
		if l.unreadable || l.repeat || l.deadLettered {
			continue
		}
		same, err := stored.same(cutMessage{message: l.message, at: p.position(l)}, p.scratch)
		if err != nil {
			continue // the sink could not read the message either
		}
		if same != nil && !slices.Contains(same, false) {
			continue
		}
		if err := p.scratch.Add(l.message, p.position(l), nil); err != nil {
			continue // the sink could not read this message either
		}
		before := len(list)
		for i := range l.message.Count {
			letter := p.letter(l, i)
			if (same == nil || !same[i]) && !p.dead[letter.Key()] && !p.r.gone(l.event(p.scratch, i)) {
				list = append(list, missingRow{of, i, p.dayOf(l, p.scratch.Content(i))})
			}
		}
		p.scratch.Reset()
		if len(list) > before && same == nil {
			repeat, err := p.maybeRepeat(ctx, l)
			if err != nil {
				return nil, err
			}
			if repeat {
				list = list[:before]
			}
		}
	}
	return list, nil
}

// placed is an event with its index in its message.
type placed struct {
	index   uint16
	content insights.RowContent
}

// maybeRepeat reports whether the table has a message's rows at an earlier position. Then the message may be a repeat
// of a message that has expired, so it is not restored.
func (p *reconciling) maybeRepeat(ctx context.Context, l logged) (bool, error) {
	window := int64(p.r.cfg.Window)
	if p.oldest == 0 || l.offset >= p.oldest+window {
		return false, nil
	}
	if p.expired == nil {
		rows, err := p.r.cfg.Store.Stored(ctx, uint16(p.sum.Partition), uint64(max(0, p.oldest-window)), uint64(p.oldest-1))
		if err != nil {
			return false, err
		}
		p.expired, p.earlier = indexStored(rows), map[placed][]uint64{}
		for _, row := range rows {
			at := placed{row.Index, row.Content}
			p.earlier[at] = append(p.earlier[at], row.Offset)
		}
	}
	if err := p.scratch.Add(l.message, p.position(l), nil); err != nil || p.scratch.Rows() == 0 {
		p.scratch.Reset()
		return false, nil //nolint:nilerr // an unreadable message is never restored
	}
	// Skip events that intentionally have no row. Only the other events show whether the message is a repeat.
	gone, first := make([]bool, p.scratch.Rows()), -1
	for i := range gone {
		if gone[i] = p.r.gone(l.event(p.scratch, i)); !gone[i] && first < 0 {
			first = i
		}
	}
	var candidates []uint64
	if first >= 0 {
		candidates = p.earlier[placed{uint16(first), p.scratch.Content(first)}]
	}
	p.scratch.Reset()
	for _, offset := range candidates {
		if int64(offset) < l.offset-window {
			continue
		}
		at := cutMessage{message: l.message, at: insights.Position{Partition: uint16(p.sum.Partition), Offset: offset}}
		same, err := p.expired.same(at, p.scratch)
		if err != nil || same == nil {
			continue
		}
		for i := range same {
			same[i] = same[i] || gone[i]
		}
		if !slices.Contains(same, false) {
			return true, nil
		}
	}
	return false, nil
}

// store inserts missing rows until the table has them. It bisects to find rows that the table refuses, and leaves them
// out.
func (p *reconciling) store(ctx context.Context, missing []missingRow, stored *storedRows) error {
	store := p.r.cfg.Store
	for again := 0; len(missing) > 0; again++ {
		if again == maxRepairs {
			return fmt.Errorf("cannot put %d rows back: the store acknowledges them but does not have them", len(missing))
		}
		rows, err := p.batch(missing)
		if err != nil {
			return err
		}
		// Check the lock as late as possible, because another repair may run after it is lost.
		if err := p.holds(ctx); err != nil {
			return fmt.Errorf("cannot go on with the repair: %w", err)
		}
		err = store.Insert(ctx, rows, p.token(missing, again))
		switch {
		case err == nil:
		case !eventstore.FaultOf(err).Rows:
			return fmt.Errorf("cannot put %d rows of partition %d back: %w", len(missing), p.sum.Partition, err)
		case len(missing) == 1:
			p.r.cfg.Logger.Error("An event cannot be restored: the store refuses it.",
				"partition", p.sum.Partition, "offset", p.pending[missing[0].of].offset, "index", missing[0].index, "error", err)
			return nil
		default:
			middle := len(missing) / 2
			if err := p.store(ctx, missing[:middle], stored); err != nil {
				return err
			}
			return p.store(ctx, missing[middle:], stored)
		}
		if *stored, err = p.stored(ctx); err != nil {
			return err
		}
		left, err := p.missing(ctx, *stored)
		if err != nil {
			return err
		}
		missing = slices.DeleteFunc(slices.Clone(missing), func(m missingRow) bool { return !slices.Contains(left, m) })
	}
	return nil
}

// batch returns the rows of missing events.
func (p *reconciling) batch(missing []missingRow) (*insights.Batch, error) {
	rows := insights.NewBatch()
	for len(missing) > 0 {
		l, wanted := p.pending[missing[0].of], map[int]bool{}
		of := missing[0].of
		for len(missing) > 0 && missing[0].of == of {
			wanted[missing[0].index] = true
			missing = missing[1:]
		}
		if err := rows.Add(l.message, p.position(l), func(i int) bool { return !wanted[i] }); err != nil {
			return nil, err // cannot happen: the message was parsed when it was added
		}
	}
	return rows, nil
}

// token returns the deduplication token of missing rows: equal rows of equal messages have equal tokens.
func (p *reconciling) token(missing []missingRow, again int) string {
	digest := xxhash.New()
	for _, m := range missing {
		var sum [24]byte
		binary.LittleEndian.PutUint64(sum[:8], uint64(p.pending[m.of].offset))
		binary.LittleEndian.PutUint64(sum[8:16], uint64(m.index))
		binary.LittleEndian.PutUint64(sum[16:], p.pending[m.of].sum)
		_, _ = digest.Write(sum[:]) // it never fails
	}
	first, last := p.pending[missing[0].of].offset, p.pending[missing[len(missing)-1].of].offset
	return fmt.Sprintf("octavo/%s/%d/repair/%d-%d/%016x/%d", p.r.cfg.Topic, p.sum.Partition, first, last+1, digest.Sum64(), again)
}
