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

// writeAll stores cuts in order. The commit that announces a cut also commits the offset of the previous cut. If no
// next cut is ready, writeAll commits the offset of the previous cut separately.
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
		// After the first cut that fails, store no more cuts. A later commit would skip the messages of the failed cut.
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

// declareLosses prepares a commit with the losses that were found when the sink took over a partition. Otherwise these
// losses would be committed only with the next message, which may arrive after a long time.
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

// commitStored commits the stored progress. If the commit fails, the intent that was committed before the cut tells the
// partition's next owner which cut was begun.
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

// announce commits the stored progress together with the intent to store a cut. The sink inserts the cut only after
// this commit. So the partition's next owner can read which cut was begun, and repeat it.
func (g *generation) announce(ctx context.Context, c *cut) error {
	intended := c.partition.done
	intended.intent, intended.erased = c.to, c.honours
	g.stored[c.partition.id] = intended
	return g.commit(ctx)
}

// write stores a cut and reports whether it succeeded. After `write` has returned false, the caller must store no later
// cut.
func (g *generation) write(generationCtx, drainCtx context.Context, c *cut) bool {
	s := g.sink
	if drainCtx.Err() != nil {
		return false
	}
	if c.to == c.from {
		return true // the cut is empty, because this version cannot read its first message
	}
	s.metrics.stalled.markPending(c.partition.id)
	g.honour() // honour runs before erase, which then uses at least the tombstones that honour declares
	if err := g.erase(c); err != nil {
		s.cfg.Logger.Error("Cannot leave out the events of erased visitors.", "error", err)
		return false // cannot happen: the messages of the cut were decoded before
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

// prepare prepares a cut for its insert. Once per partition, it finds the offset up to which the previous owner may
// have stored rows without a commit. It removes rows from the cut that are stored already.
func (g *generation) prepare(ctx context.Context, c *cut) error {
	p, store := c.partition, g.sink.cfg.Store
	if !p.prepared {
		p.done = progress{
			offset: c.from, known: true, tail: p.committed.tail, hasTail: p.committed.hasTail && p.committed.offset == c.from,
			plain: c.plain, end: c.highWater, lost: p.lostAtStart, erased: c.honours,
		}
		// If a previous owner announced this cut, the previous owner's running insert has the same token, so ClickHouse
		// drops the later of the two inserts. If no sink announced it, wait until running inserts have ended.
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
	// A cut that the previous owner announced is uncertain, even if none of its rows are stored now, because the
	// previous owner's insert may still arrive.
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

// store stores the rows [lo, hi) of a cut. If the store refuses an insert because of its rows, `store` inserts each
// half separately, until it finds the rows that the store refuses. It records these rows, and stores all other rows.
// The token of a half depends on its position in the cut. So another sink that repeats the cut uses the same tokens.
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

// insert is one attempt to store the rows [lo, hi) of a cut. If an earlier attempt or another sink may have stored some
// of these rows, `insert` first reads which rows are stored, and does not insert them again. The token alone would be
// sufficient only while ClickHouse remembers the token.
//
// `refusal` is an error that the rows caused. Only an error of the INSERT statement can be a refusal. An error of a
// SELECT statement never is, whatever its code is.
func (g *generation) insert(ctx context.Context, c *cut, lo, hi int) (refusal, err error) {
	s := g.sink
	// If the sink was paused, it may have lost its partitions, and then this commit fails. The token is needed
	// nevertheless, because the sink may also be paused after this commit.
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
			// With each additional token, the store could store the rows once more, so limit the number of tokens.
			return nil, fmt.Errorf("the store acknowledged %d rows that it does not have", c.rows.Rows())
		}
		if again > 0 {
			// ClickHouse records a token before the rows are visible. If ClickHouse was then killed, or its disk was
			// full, it lacks the rows and drops every repeated insert nevertheless. Another
			// token makes it insert the rows.
			name += "/again" + strconv.Itoa(again)
			// Another sink may be inserting the same cut, and ClickHouse may have recorded the token although the rows
			// are not visible yet. After that insert has ended, its rows are visible.
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

// maxRetryTokens is the largest number of tokens that an insert may use in addition to its first token.
const maxRetryTokens = 3

// rebuild removes from the cut the rows that the store already has.
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
		c.knownStored = found // insert reads the stored rows of an uncertain cut again at each attempt
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
