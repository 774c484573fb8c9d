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
// It repairs only messages before the committed offsets, so it does not insert rows of a cut that a sink may be
// storing. It does not insert rows of repeats and dead letters.
//
// Repair may be interrupted and repeated. Before each insert it waits for running inserts, and then reads which rows
// are missing. Two concurrent repairs could insert the same rows twice, so the caller must hold a lock. `holds` returns
// an error as soon as the lock is lost. The erasure job takes the same lock before it deletes rows, so the caller must
// read Config.Erased while it holds the lock. Repair also restores rows that an operator deleted.
func (r *Reconciler) Repair(ctx context.Context, from int64, holds func(context.Context) error, report func(Difference) error) ([]Reconciled, error) {
	if !r.cfg.Store.Sequential() {
		return nil, errors.New("cannot repair the table of a cluster: a replica that is behind would show rows as missing that it gets later. Stop the sinks and set the group's offsets back instead: they look for each row by its position")
	}
	return r.run(ctx, from, holds, report)
}

// maxRepairs is the largest number of tokens that a repair tries for the same rows. ClickHouse drops an insert whose
// token an earlier repair used, even if the rows were lost since.
const maxRepairs = 100

// missingRow is an event of the log that has no row in the events table.
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
	// A killed repair, or a sink that has lost the partition, may still have a running insert with a missing row.
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

// missing returns the events of pending messages that have no row although they should have one. They are in the order
// of the log.
func (p *reconciling) missing(ctx context.Context, stored storedRows) (list []missingRow, err error) {
	for of, l := range p.pending {
		if l.unreadable || l.repeat || l.deadLettered {
			continue
		}
		same, err := stored.same(cutMessage{message: l.message, at: p.position(l)}, p.scratch)
		if err != nil {
			continue // the sink could not read this message either
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

// placed has the content of an event, and its index in its message.
type placed struct {
	index   uint16
	content insights.RowContent
}

// maybeRepeat reports whether the events table has the rows of a message at the position of an earlier message. In this
// case, the message may be a repeat of a message that has expired, so its rows are not restored.
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
	// Skip events that intentionally have no row. Only events that should have a row show whether the message is a
	// repeat.
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

// store inserts missing rows, and repeats the insert until the events table has the rows. If the table refuses an
// insert because of its rows, `store` inserts each half separately, until it finds the rows that the table refuses. It
// does not insert these rows.
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
		// Check the lock as late as possible, because after this process has lost it, another repair may run.
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

// batch returns a batch with the rows of missing events, for an insert into the events table.
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
			return nil, err // cannot happen: the message was parsed when it was read
		}
	}
	return rows, nil
}

// token returns the deduplication token of missing rows. The same rows of the same messages always have the same token.
func (p *reconciling) token(missing []missingRow, again int) string {
	digest := xxhash.New()
	for _, m := range missing {
		var sum [24]byte
		binary.LittleEndian.PutUint64(sum[:8], uint64(p.pending[m.of].offset))
		binary.LittleEndian.PutUint64(sum[8:16], uint64(m.index))
		binary.LittleEndian.PutUint64(sum[16:], p.pending[m.of].sum)
		_, _ = digest.Write(sum[:]) // Write never fails
	}
	first, last := p.pending[missing[0].of].offset, p.pending[missing[len(missing)-1].of].offset
	return fmt.Sprintf("octavo/%s/%d/repair/%d-%d/%016x/%d", p.r.cfg.Topic, p.sum.Partition, first, last+1, digest.Sum64(), again)
}
