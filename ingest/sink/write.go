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

// writeAll stores cuts in order. The commit of a cut's intent also commits the previous cut. If no next cut is ready,
// writeAll commits the previous cut separately.
func (g *generation) writeAll(generationCtx, drainCtx context.Context, full <-chan *cut, free chan<- *cut, lost func()) {
	owned := true
	for {
		var c *cut
		var ok bool
		select {
		case c, ok = <-full:
		default:
			if owned {
				g.honour()
				g.declareLosses()
				g.commitStored(drainCtx)
			}
			select {
			case c, ok = <-full:
			case <-g.mayHonour():
				continue
			}
		}
		if !ok {
			break
		}
		// Stop at the first cut that fails: a later commit would skip its messages.
		if owned = owned && g.write(generationCtx, drainCtx, c); !owned {
			lost()
		}
		c.reset()
		free <- c
	}
	if owned {
		g.commitStored(drainCtx)
	}
}

// declareLosses prepares the commit of the losses before a partition's first message. This commit does not wait for the
// first message, which may arrive only after a long time.
func (g *generation) declareLosses() {
	for _, p := range g.partitions {
		at := p.located.Load()
		if p.declared = p.declared || p.prepared; p.declared || at == nil {
			continue
		}
		p.declared = true
		if at.lost != p.committed.lost {
			g.stored[p.id] = *at
		}
	}
}

// commitStored commits the stored progress. If the commit fails, the partition's next owner finds out from the intent
// which cut was begun.
func (g *generation) commitStored(ctx context.Context) {
	if len(g.stored) == 0 || ctx.Err() != nil {
		return
	}
	if err := g.commit(ctx); err != nil {
		g.sink.cfg.Logger.Warn("Cannot commit offsets.", "error", err)
	}
}

func (g *generation) commit(ctx context.Context) error {
	if err := g.group.commit(ctx, g.member, g.stored); err != nil {
		g.sink.metrics.commitErrors.Inc()
		return err
	}
	clear(g.stored)
	g.lastCommit = time.Now()
	return nil
}

// announce commits the stored progress with the intent to store a cut. The cut may be inserted only afterwards. So the
// partition's next owner can read which cut was begun, and repeats it.
func (g *generation) announce(ctx context.Context, c *cut) error {
	intended := c.partition.done
	intended.intent, intended.erased = c.to, c.honours
	g.stored[c.partition.id] = intended
	return g.commit(ctx)
}

// write stores a cut and reports whether it succeeded. If it returns false, no later cut may be stored.
func (g *generation) write(generationCtx, drainCtx context.Context, c *cut) bool {
	s := g.sink
	if drainCtx.Err() != nil {
		return false
	}
	if c.to == c.from {
		return true // The cut is empty, because this version cannot read its first message.
	}
	s.metrics.stalled.markPending(c.partition.id)
	g.honour() // before erase, which then uses at least these tombstones
	if err := g.erase(c); err != nil {
		s.cfg.Logger.Error("Cannot leave out the events of erased visitors.", "error", err)
		return false // cannot happen: the cut's messages were read before
	}
	ok := g.retry(generationCtx, drainCtx, "Cannot ask the store which rows it has.", func(ctx context.Context) error { return g.prepare(ctx, c) }) &&
		g.retry(generationCtx, drainCtx, "Cannot commit the intent to store a cut.", func(ctx context.Context) error { return g.announce(ctx, c) }) &&
		(c.total == 0 || g.store(generationCtx, drainCtx, c, 0, c.total)) &&
		g.retry(generationCtx, drainCtx, "Cannot write dead letters.", func(ctx context.Context) error { return g.writeDeadLetters(ctx, c) })
	if !ok {
		return false
	}
	id := c.partition.id
	c.partition.done = progress{offset: c.to, known: true, tail: c.tail, hasTail: true, plain: c.plain, end: c.highWater, lost: c.lost, erased: c.honours}
	g.stored[id] = c.partition.done
	s.countBalances(c)
	s.rows.add(c)
	s.metrics.stored.Add(float64(c.total - len(c.refused) - c.alreadyStored - len(c.erased)))
	s.metrics.skipped.WithLabelValues("position").Add(float64(c.alreadyStored))
	s.metrics.skipped.WithLabelValues("repeat").Add(float64(c.repeats))
	s.metrics.skipped.WithLabelValues("erased").Add(float64(len(c.erased)))
	c.partition.stored.Store(c.to)
	c.partition.ages.stored(c.to)
	s.showLag(c.partition)
	s.metrics.stalled.progressed(id, c.highWater > c.to)
	if c.oldest > 0 {
		s.metrics.freshness.Observe(time.Since(time.UnixMilli(c.oldest)).Seconds())
	}
	return true
}

// prepare finds, once per partition, the offset up to which its previous owner may have stored rows without a commit.
func (g *generation) prepare(ctx context.Context, c *cut) error {
	p, store := c.partition, g.sink.cfg.Store
	if !p.prepared {
		p.done = progress{
			offset: c.from, known: true, tail: p.committed.tail, hasTail: p.committed.hasTail && p.committed.offset == c.from,
			plain: c.plain, end: c.highWater, lost: p.lostAtStart, erased: c.honours,
		}
		// If a previous owner announced this cut, its running insert has the same token,
		// and the engine drops the later insert. Otherwise wait for running inserts.
		if !p.committed.known {
			if err := g.sink.countStoreError(store.Settle(ctx)); err != nil {
				return err
			}
		}
		last, found, err := store.LastStored(ctx, uint16(p.id), uint64(c.from), uint64(max(c.to, c.highWater)))
		if g.sink.countStoreError(err) != nil {
			return err
		}
		p.prepared, p.recover = true, -1
		if found {
			p.recover = int64(last)
			g.sink.cfg.Logger.Info("Rows past the committed offset may be stored already: the sink checks each.",
				"partition", p.id, "from", c.from, "to", last)
		}
	}
	// The previous owner's insert may still arrive, so its cut is uncertain, whatever rows are stored now.
	c.uncertain = p.recover >= c.from || p.intent > c.from
	if !c.uncertain || c.total == 0 {
		return nil
	}
	stored, err := g.storedOf(ctx, c, 0, c.total)
	if err != nil {
		return err
	}
	if err := c.rebuild(0, c.total, stored, g.scratch); err != nil {
		return err
	}
	c.alreadyStored = c.total - len(c.erased) - c.rows.Rows()
	return nil
}

// store stores the rows of a cut in [lo, hi). It bisects to find rows that the store refuses, records them, and stores
// the rest. The tokens of the halves depend on their position in the cut. So a sink that repeats the cut makes equal
// tokens.
func (g *generation) store(generationCtx, drainCtx context.Context, c *cut, lo, hi int) bool {
	var refusal error
	ok := g.retry(generationCtx, drainCtx, "Cannot insert events into the store.", func(ctx context.Context) (err error) {
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
	return g.store(generationCtx, drainCtx, c, lo, middle) && g.store(generationCtx, drainCtx, c, middle, hi)
}

// insert is one attempt to store rows of a cut. If an earlier attempt or another sink may have stored some rows, insert
// reads them first and leaves them out. While the engine remembers the token, the token alone would be sufficient.
//
// refusal is an error that the rows caused. Only an insert's error can be a refusal. A query's error is never a
// refusal, whatever its code is.
func (g *generation) insert(ctx context.Context, c *cut, lo, hi int) (refusal, err error) {
	s := g.sink
	// If the sink was paused, it may have lost its partitions. In this case a commit fails. The sink may also be paused
	// after the commit, so the token is needed in any case.
	if time.Since(g.lastCommit) > s.cfg.SessionTimeout/2 {
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
		if again > maxRetryTokens {
			// Each token may store the rows once, so limit the attempts.
			return nil, fmt.Errorf("the store acknowledged %d rows that it does not have", c.rows.Rows())
		}
		if again > 0 {
			// The engine records a token before the rows are in place. If the engine was killed or its disk was full
			// between these two steps, it drops every repeat although it lacks the rows.
			name += "/again" + strconv.Itoa(again)
			// Another sink's insert of the same cut may be between these two steps now. Once that insert has ended, its
			// rows are stored.
			if err := s.countStoreError(s.cfg.Store.Settle(ctx)); err != nil {
				return nil, err
			}
			if err := g.rebuild(ctx, c, lo, hi); err != nil || c.rows.Rows() == 0 {
				return nil, err
			}
			s.cfg.Logger.Warn(
				"The store drops rows as repeats although it lacks them. The sink inserts them under another token.",
				"partition", c.partition.id, "from", c.from, "to", c.to, "rows", c.rows.Rows(), "token", name)
		}
		began := time.Now()
		if err := s.cfg.Store.Insert(ctx, c.rows, name); err != nil {
			if eventstore.FaultOf(err).Rows {
				c.bisected, c.knownStored = true, nil
				return err, nil
			}
			c.uncertain = true
			if eventstore.FaultOf(err).Reason == eventstore.MemoryReason && s.block.lacked() {
				rows, _ := s.block.size(&s.cfg)
				s.cfg.Logger.Warn("The store lacks memory for an insert: later inserts have fewer rows.", "rows", rows)
			}
			return nil, s.countStoreError(err)
		}
		s.block.fitted()
		s.metrics.insertTime.Observe(time.Since(began).Seconds())
		s.metrics.batchRows.Observe(float64(c.rows.Rows()))
		if !c.uncertain || !s.cfg.Store.Sequential() {
			return nil, nil
		}
		if err := g.rebuild(ctx, c, lo, hi); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// countStoreError counts an error of the store by its reason, and returns it.
func (s *Sink) countStoreError(err error) error {
	if err != nil {
		reason := eventstore.FaultOf(err).Reason
		s.metrics.storeErrors.WithLabelValues(reason).Inc()
		if reason == eventstore.DamageReason && s.cfg.Damaged != nil {
			s.cfg.Damaged(err)
		}
	}
	return err
}

// maxRetryTokens is the largest number of further tokens that an insert may use.
const maxRetryTokens = 3

// rebuild reduces the cut's rows to the rows that the store may lack.
func (g *generation) rebuild(ctx context.Context, c *cut, lo, hi int) error {
	if !c.uncertain && !c.bisected {
		return nil
	}
	found := c.knownStored
	if c.uncertain || found == nil {
		from, to := 0, c.total
		if c.uncertain {
			from, to = lo, hi
		}
		var err error
		if found, err = g.storedOf(ctx, c, from, to); err != nil {
			return err
		}
		c.knownStored = found // an uncertain cut reads the stored rows again
	}
	return c.rebuild(lo, hi, found, g.scratch)
}

func (g *generation) storedOf(ctx context.Context, c *cut, lo, hi int) (storedRows, error) {
	first, last := c.offsets(lo, hi)
	list, err := g.sink.cfg.Store.Stored(ctx, uint16(c.partition.id), first, last)
	if g.sink.countStoreError(err) != nil {
		return nil, err
	}
	return indexStored(list), nil
}

// retry runs f until it succeeds, or until the sink has lost the partitions.
func (g *generation) retry(generationCtx, drainCtx context.Context, failed string, f func(context.Context) error) bool {
	s := g.sink
	wait := retry.Backoff{First: s.cfg.RetryWait, Max: maxWait}
	for {
		ctx, cancel := context.WithTimeout(drainCtx, attemptTimeout)
		err := f(ctx)
		cancel()
		if err == nil {
			return true
		}
		if errors.Is(err, errPartitionsLost) {
			s.cfg.Logger.Warn("The sink has lost its partitions and stores no more of their messages.", "error", err)
			return false
		}
		s.cfg.Logger.Error(failed, "error", err)
		if generationCtx.Err() != nil || drainCtx.Err() != nil {
			return false
		}
		wait.Sleep(generationCtx)
	}
}
