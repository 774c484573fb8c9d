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

// generation is the sink's work on the partitions it has until they are
// shared out again: fetchers, one for each partition, feed a collector, which
// decodes one cut while the writer inserts the cut before.
type generation struct {
	sink       *Sink
	group      committer
	member     member
	partitions []*partition
	scratch    *insights.Batch // the writer's

	stored  map[int]progress // what the writer has to commit yet
	renewed time.Time        // when a commit last said that the partitions are ours
}

// committer tells the group how far partitions are; a *Sink, but in tests.
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

// run works until having ends, then stores and commits what was collected
// before it returns, unless working ends too.
func (g *generation) run(having, working context.Context) {
	s := g.sink
	having, cancel := context.WithCancel(having)
	defer cancel()
	// The store is away and the partitions are another's: what we hold is not
	// ours to wait for. The next owner does it.
	finishing, giveUp := context.WithCancel(working)
	defer giveUp()
	stop := context.AfterFunc(having, func() {
		timer := time.AfterFunc(s.cfg.SessionTimeout, giveUp)
		context.AfterFunc(finishing, func() { timer.Stop() })
	})
	defer stop()

	for _, p := range g.partitions {
		// Until the log has said that there is nothing to store, there may be.
		s.metrics.stalled.behind(p.id)
		s.metrics.backlog.add(p)
	}
	defer g.forget()
	if !g.begin(having) {
		return
	}
	in := make(chan *chunk)
	var fetchers sync.WaitGroup
	for _, p := range g.partitions {
		fetchers.Go(func() {
			s.fetchAll(having, p, in)
			cancel() // it ends by itself if the log is not what it was
		})
	}
	full := make(chan *cut, 2)
	free := make(chan *cut, 2)
	free <- newCut()
	free <- newCut()
	var writer sync.WaitGroup
	writer.Go(func() { g.writeAll(having, finishing, full, free, cancel) })
	g.collect(having, in, full, free)
	close(full)
	writer.Wait()
	fetchers.Wait()
}

// forget takes the partitions out of the metrics: they are another sink's.
func (g *generation) forget() {
	for _, p := range g.partitions {
		g.sink.metrics.logLag.DeleteLabelValues(strconv.Itoa(p.id))
		g.sink.metrics.stalled.forget(p.id)
		g.sink.metrics.backlog.remove(p)
		g.sink.keepLast(p)
	}
}

// begin asks the group how far the partitions are.
func (g *generation) begin(having context.Context) bool {
	s := g.sink
	ids := make([]int, len(g.partitions))
	for i, p := range g.partitions {
		ids[i] = p.id
	}
	wait := retry.Backoff{First: s.cfg.RetryWait, Max: maxWait}
	for having.Err() == nil {
		had, err := groupProgress(having, s.log, s.cfg.Group, ids)
		if err == nil {
			s.askRetention(having)
			for _, p := range g.partitions {
				p.had = had[p.id]
			}
			return true
		}
		s.cfg.Logger.Warn("The group does not tell how far it is.", "error", err)
		wait.Sleep(having)
	}
	return false
}

// collect gathers chunks until a partition has enough of them, or its oldest
// is old enough, and the writer has room for a cut; and what is left once
// having ends.
func (g *generation) collect(having context.Context, in <-chan *chunk, full chan<- *cut, free <-chan *cut) {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for having.Err() == nil {
		due, wait := g.due(time.Now())
		receive, room := in, free
		if due == nil {
			room = nil
		} else if g.pending() >= g.sink.cfg.BatchBytes {
			receive = nil
		}
		timer.Reset(wait)
		select {
		case c := <-receive:
			g.queue(c)
		case c := <-room:
			// What came while the writer was busy may have changed the order.
			// What was due still is: it only grows and ages.
			due, _ = g.due(time.Now())
			full <- g.cut(due, c)
		case <-timer.C:
		case <-having.Done():
		}
	}
	for _, p := range g.partitions {
		for len(p.queue) > 0 && p.whole() {
			full <- g.cut(p, <-free)
		}
		p.drop()
	}
}

// due is the partition to cut next, or else how long until there may be one.
func (g *generation) due(now time.Time) (*partition, time.Duration) {
	cfg := &g.sink.cfg
	var next, largest *partition
	wait := time.Hour
	for _, p := range g.partitions {
		if len(p.queue) == 0 || !p.whole() {
			continue
		}
		if largest == nil || p.bytes > largest.bytes {
			largest = p
		}
		left := cfg.BatchAge - now.Sub(p.began)
		if p.intent > p.next || p.rows >= cfg.BatchRows || p.bytes >= cfg.BatchBytes || left <= 0 {
			if next == nil || p.began.Before(next.began) {
				next = p
			}
			continue
		}
		wait = min(wait, left)
	}
	if next == nil && g.pending() >= cfg.BatchBytes {
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

// queue takes a chunk.
func (g *generation) queue(c *chunk) {
	p := c.partition
	if c.older != nil {
		p.repeats.recall(c.older)
		c.older = nil
	}
	if p.newer.Load() {
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
	g.sink.metrics.stalled.behind(p.id)
	if len(p.queue) == 0 {
		p.began = time.Now()
	}
	p.queue = append(p.queue, c)
	p.rows, p.bytes = p.rows+c.rows, p.bytes+c.bytes
}

// whole tells whether what is queued may be cut: a cut that the former owner
// began is made again as it was.
func (p *partition) whole() bool {
	last := p.queue[len(p.queue)-1]
	return p.intent <= p.next || last.messages[len(last.messages)-1].offset+1 >= p.intent
}

// cut makes a cut of what is queued, as far as one insert goes, and as this
// version can read it.
func (g *generation) cut(p *partition, c *cut) *cut {
	cfg := &g.sink.cfg
	n, rows, bytes := 0, 0, 0
	enough := func(next *chunk) bool {
		if p.intent > p.next {
			return next.messages[0].offset >= p.intent
		}
		return rows >= cfg.BatchRows || bytes >= cfg.BatchBytes
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
		p.newer.Store(true)
		p.drop()
	}
	return c
}

// drop gives back what is queued.
func (p *partition) drop() {
	for _, c := range p.queue {
		c.free()
	}
	p.queue, p.rows, p.bytes = nil, 0, 0
}
