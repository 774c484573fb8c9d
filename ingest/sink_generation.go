package ingest

import (
	"context"
	"strconv"
	"sync"
	"time"

	"github.com/segmentio/kafka-go"

	"github.com/octavo-docs/octavo/schema/insights"
)

// committer commits offsets for as long as the generation lasts.
type committer interface {
	CommitOffsets(map[string]map[int]int64) error
}

// generation is the sink's work on the partitions it has until they are
// shared out again: fetchers, one for each partition, feed a collector, which
// decodes into one batch while the writer inserts the batch before.
type generation struct {
	sink       *Sink
	commits    committer
	partitions []*partition
	committed  []int64 // of partitions, as the group told
	collected  *insights.Batch
	written    *insights.Batch
}

func newGeneration(s *Sink, c committer, assigned []kafka.PartitionAssignment) *generation {
	g := &generation{sink: s, commits: c, collected: insights.NewBatch(), written: insights.NewBatch()}
	for _, a := range assigned {
		g.partitions = append(g.partitions, &partition{id: a.ID, repeats: newRepeats(s.cfg.Window)})
		g.committed = append(g.committed, a.Offset)
	}
	return g
}

// run works until having ends, then stores and commits what was collected
// before it returns, unless working ends too.
func (g *generation) run(having, working context.Context) {
	s := g.sink
	having, cancel := context.WithCancel(having)
	defer cancel()
	// The store is away and the partitions are another's: what we hold is not
	// ours to wait for. The next owner finds what we did of it.
	finishing, giveUp := context.WithCancel(working)
	defer giveUp()
	stop := context.AfterFunc(having, func() {
		timer := time.AfterFunc(s.cfg.SessionTimeout, giveUp)
		context.AfterFunc(finishing, func() { timer.Stop() })
	})
	defer stop()

	in := make(chan *chunk)
	var fetchers sync.WaitGroup
	for i, p := range g.partitions {
		fetchers.Go(func() { s.fetchAll(having, p, g.committed[i], in) })
	}
	full := make(chan *sinkBatch)
	free := make(chan *sinkBatch, 2)
	free <- newSinkBatch()
	free <- newSinkBatch()
	var writer sync.WaitGroup
	writer.Go(func() {
		lost := false
		for b := range full {
			// After a batch that is not stored nothing may be committed: its
			// messages would be passed by.
			if lost = lost || !g.write(having, finishing, b); lost {
				cancel()
			}
			b.reset()
			free <- b
		}
	})
	g.collect(having, finishing, in, full, free)
	close(full)
	writer.Wait()
	fetchers.Wait()
	for _, p := range g.partitions {
		s.metrics.logLag.DeleteLabelValues(strconv.Itoa(p.id))
	}
}

// collect gathers chunks into batches and hands them on when they are full or
// old enough, and once more at the end.
func (g *generation) collect(having, finishing context.Context, in <-chan *chunk, full chan<- *sinkBatch, free <-chan *sinkBatch) {
	cfg := &g.sink.cfg
	b := <-free
	age := time.NewTimer(cfg.BatchAge)
	defer age.Stop()
	for {
		var due bool
		select {
		case c := <-in:
			if b.empty() {
				b.began = time.Now()
				age.Reset(cfg.BatchAge)
			}
			if !g.take(having, finishing, b, c) {
				return
			}
			due = b.rows.Rows() >= cfg.BatchRows || b.bytes >= cfg.BatchBytes
		case <-age.C:
			due = !b.empty()
		case <-having.Done():
			if !b.empty() {
				full <- b
			}
			return
		}
		if due {
			full <- b
			b = <-free
		}
	}
}

// take adds a chunk's messages to the batch. It reports false if what is
// stored of them could not be found out while it mattered.
func (g *generation) take(having, finishing context.Context, b *sinkBatch, c *chunk) bool {
	p := c.partition
	b.chunks = append(b.chunks, c)
	b.bytes += len(c.data)
	first, last := c.messages[0].offset, c.messages[len(c.messages)-1].offset
	var stored storedRows
	if last >= p.start {
		ok := g.retry(having, finishing, "The store cannot be asked what it has.", func(ctx context.Context) (err error) {
			if err = g.prepare(ctx, p, c.highWater); err == nil && first <= p.recover {
				stored, err = g.stored(ctx, uint16(p.id), uint64(max(first, p.start)), uint64(min(last, p.recover)))
			}
			return err
		})
		if !ok {
			return false
		}
	}
	for _, f := range c.messages {
		g.message(b, p, f, stored)
		if f.offset >= p.start {
			g.sink.metrics.taken.Inc()
		}
	}
	if last >= p.start {
		b.reached[p.id] = reached{next: last + 1, highWater: c.highWater}
	}
	return true
}

// message adds one message to the batch, or counts why not.
func (g *generation) message(b *sinkBatch, p *partition, f fetched, stored storedRows) {
	s := g.sink
	m, err := insights.ParseMessage(f.data)
	if err == nil {
		isNew := p.repeats.first(m.ID)
		if f.offset < p.start {
			return // read again for its id only
		}
		if !isNew {
			b.skipped.repeat += m.Count
			return
		}
		at := insights.Position{Partition: uint16(p.id), Offset: uint64(f.offset)}
		var left int
		if left, err = b.add(sinkMessage{m, at}, stored, g.collected); err == nil {
			b.skipped.position += left
			return
		}
	}
	if f.offset < p.start {
		return
	}
	s.metrics.unreadable.Inc()
	s.cfg.Logger.Error("A message of the log cannot be read and is passed by.",
		"topic", s.cfg.Topic, "partition", p.id, "offset", f.offset, "bytes", len(f.data), "error", err)
}

// prepare finds out, once, up to where the partition's former owner may have
// stored rows without committing them.
func (g *generation) prepare(ctx context.Context, p *partition, highWater int64) error {
	if p.prepared {
		return nil
	}
	store := g.sink.cfg.Store
	if err := store.Settle(ctx); err != nil {
		return err
	}
	last, found, err := store.LastStored(ctx, uint16(p.id), uint64(p.start), uint64(highWater))
	if err != nil {
		return err
	}
	p.prepared, p.recover = true, -1
	if found {
		p.recover = int64(last)
		g.sink.cfg.Logger.Info("Rows past the committed offset may be stored already: the sink looks at each.",
			"partition", p.id, "from", p.start, "to", last)
	}
	return nil
}

func (g *generation) stored(ctx context.Context, partition uint16, from, to uint64) (storedRows, error) {
	list, err := g.sink.cfg.Store.Stored(ctx, partition, from, to)
	if err != nil {
		return nil, err
	}
	return indexStored(list), nil
}

// retry runs f until it succeeds. Once the partitions are no longer ours it
// tries no more.
func (g *generation) retry(having, finishing context.Context, failed string, f func(context.Context) error) bool {
	s := g.sink
	wait := backoff{wait: s.cfg.RetryWait, most: maxBackoff}
	for {
		ctx, cancel := context.WithTimeout(finishing, s.cfg.InsertTimeout)
		err := f(ctx)
		cancel()
		if err == nil {
			return true
		}
		s.cfg.Logger.Error(failed, "error", err)
		if having.Err() != nil || finishing.Err() != nil {
			return false
		}
		wait.sleep(having)
	}
}

// write stores a batch, then commits it. It reports false if the batch is not
// stored; then nothing after it may be committed.
func (g *generation) write(having, finishing context.Context, b *sinkBatch) bool {
	s := g.sink
	if finishing.Err() != nil {
		return false
	}
	doubt := false
	stored := 0
	ok := g.retry(having, finishing, "The store does not take events.", func(ctx context.Context) error {
		if doubt {
			if err := g.leaveOutStored(ctx, b); err != nil {
				return err
			}
		}
		rows := b.rows.Rows()
		if rows == 0 {
			return nil
		}
		start := time.Now()
		if err := s.cfg.Store.Insert(ctx, b.rows); err != nil {
			doubt = true
			s.metrics.insertErrors.Inc()
			return err
		}
		stored = rows
		s.metrics.insertTime.Observe(time.Since(start).Seconds())
		s.metrics.batchRows.Observe(float64(rows))
		s.metrics.freshness.Observe(time.Since(time.UnixMilli(b.oldest)).Seconds())
		return nil
	})
	if !ok {
		return false
	}
	s.metrics.stored.Add(float64(stored))
	s.metrics.skipped.WithLabelValues("position").Add(float64(b.skipped.position))
	s.metrics.skipped.WithLabelValues("repeat").Add(float64(b.skipped.repeat))
	g.commit(b)
	return true
}

// leaveOutStored is called after an insert that failed: part of it may be
// stored all the same.
func (g *generation) leaveOutStored(ctx context.Context, b *sinkBatch) error {
	if err := g.sink.cfg.Store.Settle(ctx); err != nil {
		return err
	}
	stored := map[uint16]storedRows{}
	for partition, r := range b.ranges() {
		rows, err := g.stored(ctx, partition, r[0], r[1])
		if err != nil {
			return err
		}
		stored[partition] = rows
	}
	return b.rebuild(stored, g.written)
}

// commit tells the group how far the store is. If it cannot, the partition's
// next owner finds the rows in the store.
func (g *generation) commit(b *sinkBatch) {
	s := g.sink
	if len(b.reached) == 0 {
		return
	}
	offsets := make(map[int]int64, len(b.reached))
	for id, r := range b.reached {
		offsets[id] = r.next
		s.metrics.logLag.WithLabelValues(strconv.Itoa(id)).Set(float64(max(0, r.highWater-r.next)))
	}
	if err := g.commits.CommitOffsets(map[string]map[int]int64{s.cfg.Topic: offsets}); err != nil {
		s.metrics.commitErrors.Inc()
		s.cfg.Logger.Warn("Offsets cannot be committed.", "offsets", offsets, "error", err)
	}
}
