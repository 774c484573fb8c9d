package sink

import (
	"context"
	"strconv"
	"sync"
	"time"

	"github.com/segmentio/kafka-go"

	"github.com/octavo-docs/octavo/ingest/retry"
	"github.com/octavo-docs/octavo/schema/insights"
)

// generation is the sink's work on its partitions until they are reassigned. Each partition has a fetcher that feeds
// the collector. The collector decodes a cut while the writer inserts the previous cut.
type generation struct {
	sink       *Sink
	group      committer
	member     member
	partitions []*partition
	scratch    *insights.Batch // only the writer uses it

	stored     map[int]progress // progress that the writer has reached but not committed
	lastCommit time.Time        // time of the last successful commit; at this time the sink still owned the partitions
	honoured   int64            // version of the tombstones that the commits of all partitions declare
}

// committer commits progress to the consumer group. A Sink implements `committer`. In tests, a model implements it too.
type committer interface {
	commit(ctx context.Context, who member, list map[int]progress) error
}

func newGeneration(s *Sink, who member, assigned []kafka.PartitionAssignment) *generation {
	g := &generation{sink: s, group: s, member: who, scratch: insights.NewBatch(), stored: map[int]progress{}}
	for _, a := range assigned {
		g.partitions = append(g.partitions, &partition{id: a.ID, repeats: newRepeats(s.cfg.Window)})
	}
	return g
}

// run works until generationCtx ends. Then it stores and commits the messages that were collected, and returns. If
// abortCtx also ends, it returns immediately.
func (g *generation) run(generationCtx, abortCtx context.Context) {
	s := g.sink
	generationCtx, cancel := context.WithCancel(generationCtx)
	defer cancel()
	// After the partitions were revoked, store the collected messages for at most one session timeout. The next owner
	// stores the remaining messages.
	drainCtx, abort := context.WithCancel(abortCtx)
	defer abort()
	stop := context.AfterFunc(generationCtx, func() {
		timer := time.AfterFunc(s.cfg.SessionTimeout, abort)
		context.AfterFunc(drainCtx, func() { timer.Stop() })
	})
	defer stop()

	for _, p := range g.partitions {
		// Assume that messages are pending, until the log shows that no message is pending.
		s.metrics.stalled.markPending(p.id)
		s.metrics.backlog.add(p)
	}
	defer g.forget()
	if !g.fetchProgress(generationCtx) {
		return
	}
	in := make(chan *chunk)
	var fetchers sync.WaitGroup
	for _, p := range g.partitions {
		fetchers.Go(func() {
			s.fetchAll(generationCtx, p, in)
			cancel() // fetchAll has ended by itself, so a new generation must begin
		})
	}
	full := make(chan *cut, 2)
	free := make(chan *cut, 2)
	free <- newCut()
	free <- newCut()
	var writer sync.WaitGroup
	writer.Go(func() { g.writeAll(generationCtx, drainCtx, full, free, cancel) })
	g.collect(generationCtx, in, full, free)
	close(full)
	writer.Wait()
	fetchers.Wait()
}

// forget removes the partitions from the metrics, because another sink owns them.
func (g *generation) forget() {
	for _, p := range g.partitions {
		g.sink.metrics.logLag.DeleteLabelValues(strconv.Itoa(p.id))
		g.sink.metrics.stalled.remove(p.id)
		g.sink.metrics.backlog.remove(p)
		g.sink.rememberPartition(p)
	}
}

// fetchProgress reads the partitions' progress from the group.
func (g *generation) fetchProgress(generationCtx context.Context) bool {
	s := g.sink
	ids := make([]int, len(g.partitions))
	for i, p := range g.partitions {
		ids[i] = p.id
	}
	wait := retry.Backoff{First: s.cfg.RetryWait, Max: maxWait}
	for generationCtx.Err() == nil {
		had, err := groupProgress(generationCtx, s.log, s.cfg.Group, ids)
		if err == nil {
			s.askRetention(generationCtx)
			erased := int64(1)
			for _, p := range g.partitions {
				p.committed = had[p.id]
				erased = max(erased, p.committed.erased)
			}
			// Wait until this sink's list of tombstones has at least the tombstones that the previous owners of its
			// partitions honoured.
			return s.cfg.Erased.Await(generationCtx, erased) == nil
		}
		s.cfg.Logger.Warn("Cannot read the consumer group's offsets.", "error", err)
		wait.Sleep(generationCtx)
	}
	return false
}

// collect queues chunks by partition. When the writer can take a cut, `collect` makes a cut from a partition that has
// enough messages or an old message. When generationCtx ends, it makes cuts from the remaining messages.
func (g *generation) collect(generationCtx context.Context, in <-chan *chunk, full chan<- *cut, free <-chan *cut) {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for generationCtx.Err() == nil {
		due, wait := g.due(time.Now())
		receive, room := in, free
		if due == nil {
			room = nil
		} else if _, most := g.sink.block.size(&g.sink.cfg); g.pending() >= most {
			receive = nil
		}
		timer.Reset(wait)
		select {
		case c := <-receive:
			g.queue(c)
		case c := <-room:
			// While the writer was busy, chunks have arrived, so another partition may now be due first. If the block
			// size has grown, perhaps no partition is due now. Then the cut is made from the partition that was due
			// before.
			if now, _ := g.due(time.Now()); now != nil {
				due = now
			}
			full <- g.cut(due, c)
		case <-timer.C:
		case <-generationCtx.Done():
		}
	}
	for _, p := range g.partitions {
		for len(p.queue) > 0 && p.cutReady() {
			full <- g.cut(p, <-free)
		}
		p.dropQueue()
	}
}

// due returns the partition from which the next cut is made. If no partition is due, it returns nil and the time until
// one may be due.
func (g *generation) due(now time.Time) (*partition, time.Duration) {
	cfg := &g.sink.cfg
	blockRows, blockBytes := g.sink.block.size(cfg)
	var next, largest *partition
	wait := time.Hour
	for _, p := range g.partitions {
		if len(p.queue) == 0 || !p.cutReady() {
			continue
		}
		if largest == nil || p.bytes > largest.bytes {
			largest = p
		}
		left := cfg.pause(p.rows, now.Sub(p.began)) - now.Sub(p.began)
		if p.intent > p.next || p.rows >= blockRows || p.bytes >= blockBytes || left <= 0 {
			if next == nil || p.began.Before(next.began) {
				next = p
			}
			continue
		}
		wait = min(wait, left)
	}
	if next == nil && g.pending() >= blockBytes {
		next = largest
	}
	return next, wait
}

func (g *generation) pending() (bytes int) {
	for _, p := range g.partitions {
		bytes += p.bytes
	}
	return bytes
}

// queue adds a chunk to its partition's queue.
func (g *generation) queue(c *chunk) {
	p := c.partition
	if c.older != nil {
		p.repeats.recall(c.older)
		c.older = nil
	}
	if p.newer.Load() != nil {
		c.free()
		return
	}
	c.rows, c.bytes = 0, 0
	for _, f := range c.messages {
		count := 0
		if m, err := g.sink.parse(f.data); err == nil {
			count = m.Count
		}
		c.rows, c.bytes = c.rows+count, c.bytes+len(f.data)
	}
	g.sink.metrics.taken.Add(float64(len(c.messages)))
	g.sink.metrics.stalled.markPending(p.id)
	if len(p.queue) == 0 {
		p.began = time.Now()
	}
	p.queue = append(p.queue, c)
	p.rows, p.bytes = p.rows+c.rows, p.bytes+c.bytes
}

// cutReady reports whether a cut may be made from the queue. If the previous owner announced a cut, the queue must
// contain all of its messages, because the cut is repeated unchanged.
func (p *partition) cutReady() bool {
	last := p.queue[len(p.queue)-1]
	return p.intent <= p.next || last.messages[len(last.messages)-1].offset+1 >= p.intent
}

// cut moves messages from the queue into the cut c, until c has enough rows or bytes for one insert. It stops before
// the first message of a later version or another baseline.
func (g *generation) cut(p *partition, c *cut) *cut {
	blockRows, blockBytes := g.sink.block.size(&g.sink.cfg)
	n, rows, bytes := 0, 0, 0
	enough := func(next *chunk) bool {
		if p.intent > p.next {
			return next.messages[0].offset >= p.intent
		}
		return rows >= blockRows || bytes >= blockBytes
	}
	for n < len(p.queue) && (n == 0 || !enough(p.queue[n])) {
		rows, bytes = rows+p.queue[n].rows, bytes+p.queue[n].bytes
		n++
	}
	c.fill(p, p.next, p.queue[:n], g.sink.parse)
	clear(p.queue[:n])
	p.queue = append(p.queue[:0], p.queue[n:]...)
	p.rows, p.bytes = p.rows-rows, p.bytes-bytes
	p.next, p.began = c.to, time.Now()
	if c.newer != nil {
		why := c.newer // a copy, because the cut c is reused
		p.newer.Store(&why)
		p.dropQueue()
	}
	return c
}

// dropQueue frees the chunks of the queue.
func (p *partition) dropQueue() {
	for _, c := range p.queue {
		c.free()
	}
	p.queue, p.rows, p.bytes = nil, 0, 0
}
