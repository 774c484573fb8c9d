package ingest

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
)

// chunk is what one fetch brought of one partition. Its messages share data,
// which belongs to the batch that takes the chunk until that is stored.
type chunk struct {
	partition *partition
	messages  []fetched
	data      []byte
	highWater int64 // the offset that the partition's next message will have

	rows, bytes int // of messages, once they are queued
}

type fetched struct {
	offset int64
	data   []byte
}

var chunks = sync.Pool{New: func() any { return new(chunk) }}

// free gives the chunk's memory back. No message of it may be used again.
func (c *chunk) free() {
	c.partition = nil
	clear(c.messages)
	c.messages, c.data = c.messages[:0], c.data[:0]
	chunks.Put(c)
}

// partition is one that the sink has, for as long as it has it. Its fetcher
// uses the first part before it hands out a chunk, the collector the second,
// the writer the third.
type partition struct {
	id    int
	had   progress // as the group told
	start int64    // the first offset that is not stored for certain
	from  int64    // the first offset that is read
	// intent is the end of the cut that the former owner began at start, 0 if
	// none: the next cut must be the same.
	intent int64

	repeats     repeats
	queue       []*chunk // not in a cut yet
	rows, bytes int      // of queue
	began       time.Time
	next        int64 // where the next cut begins

	prepared bool  // recover is known
	recover  int64 // up to this offset rows may be stored already
	done     progress

	stored, end atomic.Int64 // offsets, for the metric: up to where it is stored, and the log's end
}

// lag shows how much of a partition is not stored. It is said whenever one of
// the two offsets is heard of: while the store is away only the log's end moves.
func (s *Sink) lag(p *partition) {
	s.metrics.logLag.WithLabelValues(strconv.Itoa(p.id)).Set(float64(max(0, p.end.Load()-p.stored.Load())))
}

// locate finds where to start: at the committed offset, less what is read
// again to know the ids of the messages just before it.
func (s *Sink) locate(ctx context.Context, p *partition) error {
	first, next, err := offsetsOf(ctx, s.client, s.cfg.Topic, p.id)
	if err != nil {
		return err
	}
	had := p.had
	p.start, p.intent = had.offset, had.intent
	anew := had.offset > next
	if !anew && had.hasTail && had.offset > first {
		if anew, err = s.otherLog(ctx, p); err != nil {
			return err
		}
	}
	switch {
	case had.offset < 0:
		p.start = first
	case anew:
		s.cfg.Logger.Error("The log is not the one whose events were stored: was the topic made anew? The sink reads it from its beginning.",
			"partition", p.id, "committed", had.offset, "end", next)
		p.start = first
	case had.offset < first:
		s.expired(p.id, had.offset, first)
		p.start = first
	}
	if p.start != had.offset || p.intent > next {
		p.intent = 0 // its messages are gone
	}
	p.from = max(first, p.start-int64(s.cfg.Window))
	p.next = p.start
	p.stored.Store(p.start)
	p.end.Store(next)
	s.lag(p)
	if p.start >= next {
		s.metrics.stalled.moved(p.id, false)
	}
	return nil
}

// otherLog tells whether the message before the committed offset is another
// than the one that was stored.
func (s *Sink) otherLog(ctx context.Context, p *partition) (bool, error) {
	c, err := s.fetch(ctx, p, p.had.offset-1, 1)
	if err != nil {
		return false, err
	}
	defer c.free()
	for _, m := range c.messages {
		if m.offset == p.had.offset-1 {
			return xxhash.Sum64(m.data) != p.had.tail, nil
		}
	}
	return false, nil
}

func (s *Sink) expired(partition int, want, first int64) {
	s.metrics.lost.Add(float64(first - want))
	s.cfg.Logger.Error("Messages left the log before they were stored: the sink was away longer than the log keeps them.",
		"partition", partition, "from", want, "to", first)
}

// fetchAll reads a partition from its start and hands out chunks in order,
// until ctx is done.
func (s *Sink) fetchAll(ctx context.Context, p *partition, out chan<- *chunk) {
	retry := backoff{wait: s.cfg.RetryWait, most: maxBackoff}
	for {
		err := s.locate(ctx, p)
		if err == nil {
			break
		}
		if ctx.Err() != nil {
			return
		}
		s.fetchFailed(p.id, err)
		retry.sleep(ctx)
	}
	next := p.from
	for ctx.Err() == nil {
		c, err := s.fetch(ctx, p, next, s.cfg.FetchBytes)
		switch {
		case ctx.Err() != nil:
			return
		case errors.Is(err, kafka.OffsetOutOfRange):
			// What expires while it is read is lost; what comes after is not.
			first, end, err := offsetsOf(ctx, s.client, s.cfg.Topic, p.id)
			if err == nil && next < first {
				s.expired(p.id, next, first)
				next = first
				continue
			}
			if err == nil && next > end {
				s.cfg.Logger.Error("The log is shorter than what was read of it: was the topic made anew?", "partition", p.id, "read", next, "end", end)
				return // the next generation locates it again
			}
			s.fetchFailed(p.id, err)
			retry.sleep(ctx)
			continue
		case err != nil:
			s.fetchFailed(p.id, err)
			s.transport.CloseIdleConnections()
			retry.sleep(ctx)
			continue
		}
		retry.reset()
		p.end.Store(c.highWater)
		s.lag(p)
		if len(c.messages) == 0 {
			c.free()
			continue
		}
		// A cut that was begun is made again alone: its chunks hold no more.
		if next < p.intent {
			c.upTo(p.intent)
		}
		next = c.messages[len(c.messages)-1].offset + 1
		if !s.hand(ctx, p, c, out) {
			return
		}
	}
}

// hand gives a chunk to the collector. One that takes nothing waits for the
// store while the log grows, so its end is asked for as often as fetches would
// tell it.
func (s *Sink) hand(ctx context.Context, p *partition, c *chunk, out chan<- *chunk) bool {
	for {
		select {
		case out <- c:
			return true
		case <-ctx.Done():
			return false
		case <-time.After(s.cfg.FetchWait):
		}
		if _, end, err := offsetsOf(ctx, s.client, s.cfg.Topic, p.id); err == nil {
			p.end.Store(end)
			s.lag(p)
		}
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
	res, err := s.client.Fetch(ctx, &kafka.FetchRequest{
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
	for {
		record, err := res.Records.ReadRecord()
		if errors.Is(err, io.EOF) {
			return c, nil
		}
		if err == nil {
			err = c.take(record, from)
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
func (c *chunk) take(record *kafka.Record, from int64) error {
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
	if record.Value == nil {
		c.messages = append(c.messages, fetched{offset: record.Offset})
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
	c.messages = append(c.messages, fetched{offset: record.Offset, data: data})
	return nil
}
