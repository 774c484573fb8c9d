package sink

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cespare/xxhash/v2"
	"github.com/segmentio/kafka-go"

	"github.com/octavo-docs/octavo/ingest/eventlog"
	"github.com/octavo-docs/octavo/ingest/retry"
)

// chunk is what one fetch brought of one partition. Its messages share data,
// which belongs to the batch that takes the chunk until that is stored.
type chunk struct {
	partition *partition
	messages  []fetched
	data      []byte
	highWater int64     // the offset that the partition's next message will have
	oldest    time.Time // when its first message was produced
	plain     int64     // the offset after the last plain message up to its end; 0: there is none
	lost      losses
	older     []seenMessage // of before the partition's start, to be remembered first

	rows, bytes int // of messages, once they are queued
}

type fetched struct {
	offset int64
	data   []byte
	plain  bool // of a batch without a producer id
}

var chunks = sync.Pool{New: func() any { return new(chunk) }}

// free gives the chunk's memory back. No message of it may be used again.
func (c *chunk) free() {
	clear(c.messages)
	*c = chunk{messages: c.messages[:0], data: c.data[:0]}
	chunks.Put(c)
}

// partition is one that the sink has, for as long as it has it. Its fetcher
// uses the first part before it hands out a chunk, the collector the second,
// the writer the third.
type partition struct {
	id    int
	had   progress // as the group told
	start int64    // the first offset that is not stored for certain, and is read
	// intent is the end of the cut that the former owner began at start, 0 if
	// none: the next cut must be the same.
	intent int64
	// plain is the offset after the last plain message that is known before what
	// is read next; recalled: what comes before start was read for repeats.
	plain    int64
	recalled bool
	lost     losses // so far
	// tail is the sum of the last message that was read; unsure: the log may be
	// another since.
	tail            uint64
	hasTail, unsure bool

	repeats     repeats
	queue       []*chunk // not in a cut yet
	rows, bytes int      // of queue
	began       time.Time
	next        int64 // where the next cut begins

	prepared bool  // recover is known
	recover  int64 // up to this offset rows may be stored already
	done     progress

	stored, end atomic.Int64 // offsets, for the metric: up to where it is stored, and the log's end
	waits       waiting      // when what is not stored was produced
	newer       atomic.Bool  // the message after the last cut is a later version's
}

// lag shows how much of a partition is not stored. It is said whenever one of
// the two offsets is heard of: while the store is away only the log's end moves.
func (s *Sink) showLag(p *partition) {
	s.metrics.logLag.WithLabelValues(strconv.Itoa(p.id)).Set(float64(max(0, p.end.Load()-p.stored.Load())))
}

// recall reads the ids of the Window messages before the start, as far as the
// log has them, of which those that follow may be repeats.
func (s *Sink) recall(ctx context.Context, p *partition) (older []seenMessage, err error) {
	first, _, err := s.log.Offsets(ctx, p.id)
	if err != nil {
		return nil, err
	}
	from := max(first, p.start-int64(s.cfg.Window))
	plain := int64(0)
	err = s.log.Scan(ctx, p.id, from, p.start, func(r eventlog.Record) error {
		if r.Plain {
			plain = r.Offset + 1
		}
		if m, err := s.parse(r.Value); err == nil {
			older = append(older, seenMessage{m.ID, r.Offset, r.Plain})
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	p.recalled, p.plain = true, max(p.plain, plain)
	return older, nil
}

// needsOlder tells whether the messages before the start must be recalled before
// a chunk is cut: there are plain ones among them, or in the chunk.
func (p *partition) needsOlder(c *chunk, window int) bool {
	before := p.plain == unknownPlain || p.plain > max(0, p.start-int64(window))
	return !p.recalled && (before || c.plain > 0)
}

// fetchAll reads a partition from its start and hands out chunks in order,
// until ctx is done or the log turns out to be another.
func (s *Sink) fetchAll(ctx context.Context, p *partition, out chan<- *chunk) {
	wait := retry.Backoff{First: s.cfg.RetryWait, Max: maxWait}
	failed := func(err error) {
		if ctx.Err() == nil {
			s.fetchFailed(p.id, err)
			wait.Sleep(ctx)
		}
	}
	for err := s.locate(ctx, p); err != nil; err = s.locate(ctx, p) {
		if ctx.Err() != nil {
			return
		}
		failed(err)
	}
	next := p.start
	for ctx.Err() == nil && !p.newer.Load() {
		if p.unsure {
			other, err := s.otherLog(ctx, p, next, p.tail, p.hasTail)
			if err != nil {
				failed(err)
				continue
			}
			if other {
				s.madeAnew(p, next)
				return // the next generation locates it again
			}
			p.unsure = false
			p.end.Store(0) // whatever it is now
		}
		c, err := s.fetch(ctx, p, next, s.cfg.FetchBytes)
		switch {
		case ctx.Err() != nil:
			return
		case errors.Is(err, kafka.OffsetOutOfRange):
			// What expires while it is read is lost; what comes after is not.
			first, end, err := s.log.Offsets(ctx, p.id)
			if err == nil && next < first {
				s.lose(p, lostRetention, next, first)
				next, p.hasTail = first, false
				continue
			}
			if err == nil && next > end {
				s.madeAnew(p, next)
				return
			}
			p.unsure = true
			failed(err)
			continue
		case err != nil:
			p.unsure = true
			s.log.Close()
			failed(err)
			continue
		}
		wait.Reset()
		// Logs only grow: one that is shorter than it was is another, or has
		// lost what its brokers acknowledged.
		if c.highWater < p.end.Load() {
			c.free()
			p.unsure = true
			continue
		}
		p.end.Store(c.highWater)
		s.showLag(p)
		if len(c.messages) == 0 {
			c.free()
			continue
		}
		// A cut that was begun is made again alone: its chunks hold no more.
		if next < p.intent {
			c.upTo(p.intent)
		}
		last := c.messages[len(c.messages)-1]
		next, p.tail, p.hasTail = last.offset+1, xxhash.Sum64(last.data), true
		for p.needsOlder(c, s.cfg.Window) {
			if c.older, err = s.recall(ctx, p); err != nil {
				if ctx.Err() != nil {
					c.free()
					return
				}
				failed(err)
			}
		}
		p.plain = max(p.plain, c.plain)
		c.plain, c.lost = p.plain, p.lost
		p.waits.add(next, c.oldest)
		if !s.hand(ctx, p, c, out) {
			return
		}
	}
	if p.newer.Load() {
		s.hold(ctx, p)
	}
}

// hand gives a chunk to the collector. One that takes nothing waits for the
// store while the log grows, so its end is asked for as often as fetches would
// tell it.
func (s *Sink) hand(ctx context.Context, p *partition, c *chunk, out chan<- *chunk) bool {
	asked := time.Now()
	for {
		select {
		case out <- c:
			return true
		case <-ctx.Done():
			return false
		case <-time.After(s.cfg.FetchWait):
		}
		// From here on the end may be another log's: while nothing is fetched, a
		// topic that is deleted shows by this question only.
		if p.unsure = p.unsure || time.Since(asked) > s.cfg.FetchWait+maxWait; p.unsure {
			continue
		}
		_, end, err := s.log.Offsets(ctx, p.id)
		if err != nil || end < p.end.Load() {
			p.unsure = true
			continue
		}
		asked = time.Now()
		p.end.Store(end)
		s.showLag(p)
	}
}

func (s *Sink) fetchFailed(partition int, err error) {
	s.metrics.fetchErrors.Inc()
	s.cfg.Logger.Warn("The log cannot be read, the sink tries again.", "partition", partition, "error", err)
}

// upTo leaves out messages from an offset on, but for the first message.
func (c *chunk) upTo(to int64) {
	for len(c.messages) > 1 && c.messages[len(c.messages)-1].offset >= to {
		c.messages = c.messages[:len(c.messages)-1]
	}
}

// fetch reads what there is from an offset on, waiting up to FetchWait.
func (s *Sink) fetch(ctx context.Context, p *partition, from int64, most int) (*chunk, error) {
	res, err := s.log.Client.Fetch(ctx, &kafka.FetchRequest{
		Addr:           nil,
		Topic:          s.cfg.Topic,
		Partition:      p.id,
		Offset:         from,
		MinBytes:       1,
		MaxBytes:       int64(most),
		MaxWait:        s.cfg.FetchWait,
		IsolationLevel: kafka.ReadUncommitted,
	})
	if err != nil {
		return nil, err
	}
	if res.Error != nil {
		return nil, res.Error
	}
	c := chunks.Get().(*chunk)
	c.partition, c.highWater = p, res.HighWatermark
	records := eventlog.NewBatchReader(res.Records)
	for {
		record, err := records.Next()
		if errors.Is(err, io.EOF) {
			return c, nil
		}
		if err == nil {
			err = c.take(record, from, records.Plain)
		}
		if err != nil {
			// What was read before stands; the rest is asked for again.
			if len(c.messages) > 0 {
				return c, nil
			}
			c.free()
			return nil, fmt.Errorf("cannot read a record: %w", err)
		}
	}
}

// take copies a record's value out of kafka-go's pages.
func (c *chunk) take(record *kafka.Record, from int64, plain bool) error {
	if record.Key != nil {
		defer func() { _ = record.Key.Close() }()
	}
	if record.Value != nil {
		defer func() { _ = record.Value.Close() }()
	}
	// A broker gives whole batches, which may begin before what was asked for.
	if record.Offset < from {
		return nil
	}
	if plain {
		c.plain = record.Offset + 1
	}
	if c.oldest.IsZero() {
		c.oldest = record.Time
	}
	if record.Value == nil {
		c.messages = append(c.messages, fetched{offset: record.Offset, plain: plain})
		return nil
	}
	size := record.Value.Len()
	start := len(c.data)
	if cap(c.data)-start < size {
		// Messages before this one keep the old block.
		c.data = make([]byte, 0, max(2*cap(c.data), size, 64<<10))
		start = 0
	}
	c.data = c.data[:start+size]
	data := c.data[start : start+size : start+size]
	if _, err := io.ReadFull(record.Value, data); err != nil {
		return err
	}
	c.messages = append(c.messages, fetched{offset: record.Offset, data: data, plain: plain})
	return nil
}
