package sink

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/octavo-docs/octavo/ingest/eventstore"
	"github.com/octavo-docs/octavo/ingest/retry"
)

// writeAll stores cuts in their order. While there is none, it commits what is
// stored; otherwise the next cut's intent says it.
func (g *generation) writeAll(having, finishing context.Context, full <-chan *cut, free chan<- *cut, lost func()) {
	ours := true
	for {
		var c *cut
		var ok bool
		select {
		case c, ok = <-full:
		default:
			if ours {
				g.commitStored(finishing)
			}
			c, ok = <-full
		}
		if !ok {
			break
		}
		// After a cut that is not stored nothing may be: its messages would be
		// passed by.
		if ours = ours && g.write(having, finishing, c); !ours {
			lost()
		}
		c.reset()
		free <- c
	}
	if ours {
		g.commitStored(finishing)
	}
}

// commitStored tells the group what is stored. If it cannot, the partition's
// next owner finds that out by the intent.
func (g *generation) commitStored(ctx context.Context) {
	if len(g.stored) == 0 || ctx.Err() != nil {
		return
	}
	if err := g.commit(ctx); err != nil {
		g.sink.cfg.Logger.Warn("Offsets cannot be committed.", "error", err)
	}
}

func (g *generation) commit(ctx context.Context) error {
	if err := g.group.commit(ctx, g.member, g.stored); err != nil {
		g.sink.metrics.commitErrors.Inc()
		return err
	}
	clear(g.stored)
	g.renewed = time.Now()
	return nil
}

// announce commits what is stored, with the intent to store a cut. Only after
// it the cut may be inserted: whoever has the partition next then knows which
// cut, and makes the same.
func (g *generation) announce(ctx context.Context, c *cut) error {
	intended := c.partition.done
	intended.intent = c.to
	g.stored[c.partition.id] = intended
	return g.commit(ctx)
}

// write stores a cut. It reports false if it is not stored; then nothing after
// it may be.
func (g *generation) write(having, finishing context.Context, c *cut) bool {
	s := g.sink
	if finishing.Err() != nil {
		return false
	}
	if c.to == c.from {
		return true // its first message is a later version's
	}
	s.metrics.stalled.behind(c.partition.id)
	ok := g.retry(having, finishing, "The store cannot be asked what it has.", func(ctx context.Context) error { return g.prepare(ctx, c) }) &&
		g.retry(having, finishing, "The intent to store a cut cannot be committed.", func(ctx context.Context) error { return g.announce(ctx, c) }) &&
		(c.total == 0 || g.put(having, finishing, c, 0, c.total)) &&
		g.retry(having, finishing, "Dead letters cannot be written.", func(ctx context.Context) error { return g.writeDeadLetters(ctx, c) })
	if !ok {
		return false
	}
	id := c.partition.id
	c.partition.done = progress{offset: c.to, known: true, tail: c.tail, hasTail: true, plain: c.plain, end: c.highWater, lost: c.lost}
	g.stored[id] = c.partition.done
	s.countBalances(c)
	s.metrics.stored.Add(float64(c.total - len(c.refused) - c.before))
	s.metrics.skipped.WithLabelValues("position").Add(float64(c.before))
	s.metrics.skipped.WithLabelValues("repeat").Add(float64(c.repeats))
	c.partition.stored.Store(c.to)
	c.partition.waits.stored(c.to)
	s.showLag(c.partition)
	s.metrics.stalled.moved(id, c.highWater > c.to)
	if c.oldest > 0 {
		s.metrics.freshness.Observe(time.Since(time.UnixMilli(c.oldest)).Seconds())
	}
	return true
}

// prepare finds out, once for a partition, up to where its former owner may
// have stored rows without committing them.
func (g *generation) prepare(ctx context.Context, c *cut) error {
	p, store := c.partition, g.sink.cfg.Store
	if !p.prepared {
		p.done = progress{
			offset: c.from, known: true, tail: p.had.tail, hasTail: p.had.hasTail && p.had.offset == c.from,
			plain: c.plain, end: c.highWater, lost: c.lost,
		}
		// An insert of this scheme that still runs is dropped by its token if
		// ours is first, and ours by the same token if it is.
		if !p.had.known {
			if err := g.sink.told(store.Settle(ctx)); err != nil {
				return err
			}
		}
		last, found, err := store.LastStored(ctx, uint16(p.id), uint64(c.from), uint64(max(c.to, c.highWater)))
		if g.sink.told(err) != nil {
			return err
		}
		p.prepared, p.recover = true, -1
		if found {
			p.recover = int64(last)
			g.sink.cfg.Logger.Info("Rows past the committed offset may be stored already: the sink looks at each.",
				"partition", p.id, "from", c.from, "to", last)
		}
	}
	// The former owner's insert may also come yet, so its cut is in doubt
	// whatever is stored now.
	c.doubt = p.recover >= c.from || p.intent > c.from
	if !c.doubt || c.total == 0 {
		return nil
	}
	stored, err := g.storedOf(ctx, c, 0, c.total)
	if err != nil {
		return err
	}
	if err := c.rebuild(0, c.total, stored, g.scratch); err != nil {
		return err
	}
	c.before = c.total - c.rows.Rows()
	return nil
}

// put stores the rows lo ≤ row < hi of a cut. Those that the store refuses for
// what is in them are found by halves and noted, the rest is stored. Halves
// have tokens of their own, which whoever makes the cut again makes again.
func (g *generation) put(having, finishing context.Context, c *cut, lo, hi int) bool {
	var refusal error
	ok := g.retry(having, finishing, "The store does not take events.", func(ctx context.Context) (err error) {
		refusal, err = g.insert(ctx, c, lo, hi)
		return err
	})
	switch {
	case !ok:
		return false
	case refusal == nil:
		return true
	case hi-lo == 1:
		c.refused = append(c.refused, refusedRow{lo, refusal})
		return true
	}
	middle := lo + (hi-lo)/2
	return g.put(having, finishing, c, lo, middle) && g.put(having, finishing, c, middle, hi)
}

// insert is one attempt at rows of a cut. After an attempt whose end is not
// known, or another sink's, it asks the store first: what is stored is left
// out. The token alone would do while the engine remembers it.
//
// refusal is what the store has against the rows themselves. Only an insert can
// say that: an error of a question is none of the rows, whatever its code.
func (g *generation) insert(ctx context.Context, c *cut, lo, hi int) (refusal, err error) {
	s := g.sink
	// A sink that was paused may have lost the partition. That is not safe to
	// rely on, it may be paused again below, but it leaves less to the token.
	if time.Since(g.renewed) > s.cfg.SessionTimeout/2 {
		if err := g.announce(ctx, c); err != nil {
			return nil, err
		}
	}
	if err := g.rebuild(ctx, c, lo, hi); err != nil {
		return nil, err
	}
	token := c.token(s.cfg.Topic, lo, hi)
	for again := 0; c.rows.Rows() > 0; again++ {
		name := token
		if again > maxAgain {
			// Each of these tokens stores once at most, so this can go on no more.
			return nil, fmt.Errorf("the store has %d rows less than it says", c.rows.Rows())
		}
		if again > 0 {
			// The engine notes a token before the rows are in place. If it was
			// killed or its disk was full in between, it drops the rows for ever
			// without having them.
			name += "/again" + strconv.Itoa(again)
			// It may also be in between just now, for another sink's insert of
			// the same cut: once that has ended, its rows are there.
			if err := s.told(s.cfg.Store.Settle(ctx)); err != nil {
				return nil, err
			}
			if err := g.rebuild(ctx, c, lo, hi); err != nil || c.rows.Rows() == 0 {
				return nil, err
			}
			s.cfg.Logger.Warn("The store drops rows as stored already that it does not have: the sink inserts them under another token.",
				"partition", c.partition.id, "from", c.from, "to", c.to, "rows", c.rows.Rows(), "token", name)
		}
		began := time.Now()
		if err := s.cfg.Store.Insert(ctx, c.rows, name); err != nil {
			if eventstore.FaultOf(err).Rows {
				c.split, c.found = true, nil
				return err, nil
			}
			c.doubt = true
			return nil, s.told(err)
		}
		s.metrics.insertTime.Observe(time.Since(began).Seconds())
		s.metrics.batchRows.Observe(float64(c.rows.Rows()))
		if !c.doubt || !s.cfg.Store.Sequential() {
			return nil, nil
		}
		if err := g.rebuild(ctx, c, lo, hi); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// told counts an error of the store by its reason.
func (s *Sink) told(err error) error {
	if err != nil {
		s.metrics.storeErrors.WithLabelValues(eventstore.FaultOf(err).Reason).Inc()
	}
	return err
}

// maxAgain is how often an insert is given another token.
const maxAgain = 3

// rebuild makes the cut's rows those that the store may lack.
func (g *generation) rebuild(ctx context.Context, c *cut, lo, hi int) error {
	if !c.doubt && !c.split {
		return nil
	}
	found := c.found
	if c.doubt || found == nil {
		from, to := 0, c.total
		if c.doubt {
			from, to = lo, hi
		}
		var err error
		if found, err = g.storedOf(ctx, c, from, to); err != nil {
			return err
		}
		c.found = found // of no use in doubt: it is asked for again
	}
	return c.rebuild(lo, hi, found, g.scratch)
}

func (g *generation) storedOf(ctx context.Context, c *cut, lo, hi int) (storedRows, error) {
	first, last := c.offsets(lo, hi)
	list, err := g.sink.cfg.Store.Stored(ctx, uint16(c.partition.id), first, last)
	if g.sink.told(err) != nil {
		return nil, err
	}
	return indexStored(list), nil
}

// retry runs f until it succeeds. Once the partitions are no longer ours it
// tries no more.
func (g *generation) retry(having, finishing context.Context, failed string, f func(context.Context) error) bool {
	s := g.sink
	wait := retry.Backoff{First: s.cfg.RetryWait, Max: maxWait}
	for {
		ctx, cancel := context.WithTimeout(finishing, s.cfg.InsertTimeout)
		err := f(ctx)
		cancel()
		if err == nil {
			return true
		}
		if errors.Is(err, errNotOurs) {
			s.cfg.Logger.Warn("The sink has lost its partitions and stores nothing more of them.", "error", err)
			return false
		}
		s.cfg.Logger.Error(failed, "error", err)
		if having.Err() != nil || finishing.Err() != nil {
			return false
		}
		wait.Sleep(having)
	}
}
