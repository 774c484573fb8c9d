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

// chunk is the result of one fetch from one partition. The messages share the memory of the field `data`. The cut that
// takes the chunk owns `data` until the cut is stored.
type chunk struct {
	partition *partition
	messages  []fetched
	data      []byte
	highWater int64     // offset that the partition's next message will have
	oldest    time.Time // time at which the chunk's first message was produced
	plain     int64     // offset after the partition's last plain message; 0 if there is none
	lost      losses
	older     []seenMessage // messages before the partition's start, which repeats must record first

	rows, bytes int // sums over the messages, set when the chunk is queued
}

type fetched struct {
	offset int64
	data   []byte
	plain  bool // whether the message's batch has no producer id
}

var chunks = sync.Pool{New: func() any { return new(chunk) }}

// free puts the chunk back into the pool. The caller must not use the chunk's messages after this call.
func (c *chunk) free() {
	clear(c.messages)
	*c = chunk{messages: c.messages[:0], data: c.data[:0]}
	chunks.Put(c)
}

// partition is the state of a partition while the sink owns it. The fetcher uses the first group of fields before it
// delivers a chunk. The collector uses the second group, and the writer uses the third.
type partition struct {
	id        int
	committed progress // the group's progress when the generation began
	start     int64    // first offset to read; all earlier messages are stored
	// `intent` is the end of the cut that the previous owner began at `start`, or 0 if there is no such cut. The next
	// cut must end at the same offset.
	intent int64
	// `plain` is the offset after the last known plain message. `recalled` means that the messages before `start` were
	// read, so that later repeats of them are recognised.
	plain    int64
	recalled bool
	lost     losses // losses so far
	// `lostAtStart` are the losses before `start`.
	lostAtStart losses
	// tail is the checksum of the last message that was read. recheckLog means that the topic may have been recreated
	// since this message was read.
	tail                uint64
	hasTail, recheckLog bool

	repeats     repeats
	queue       []*chunk // chunks whose messages are not yet in a cut
	rows, bytes int      // sums over the chunks of queue
	began       time.Time
	next        int64 // offset at which the next cut begins

	prepared bool  // whether the field recover is set
	declared bool  // whether the losses before start were prepared for a commit
	recover  int64 // offset up to which rows may be stored already
	done     progress

	stored, end atomic.Int64 // end of the stored messages and end of the log, for the metrics
	ages        pendingAges  // ages of the messages that are not stored, for the metrics
	// located is the progress with which the partition begins. It is nil until the progress is known, and while a cut
	// of the previous owner must be repeated. After it is set, only the writer uses it.
	located atomic.Pointer[progress]
	newer   atomic.Pointer[error] // why this version cannot read the message after the last cut
}

// showLag updates the metric that counts a partition's messages that are not stored. It is called whenever the stored
// offset or the log's end changes. While the store is unavailable, only the log's end changes.
func (s *Sink) showLag(p *partition) {
	s.metrics.logLag.WithLabelValues(strconv.Itoa(p.id)).Set(float64(max(0, p.end.Load()-p.stored.Load())))
}

// recall reads the ids of the messages at the last Window offsets before the start, as far as the log has them. Later
// messages may be repeats of these messages.
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

// needsRecall reports whether recall must run before the messages of a chunk are put into a cut. It must run if there
// may be plain messages shortly before the start, or if the chunk has a plain message.
func (p *partition) needsRecall(c *chunk, window int) bool {
	before := p.plain == unknownPlain || p.plain > max(0, p.start-int64(window))
	return !p.recalled && (before || c.plain > 0)
}

// endReads is the number of consecutive fetches without a message, before the log's end, after which the remaining
// messages count as lost.
const endReads = 3

// fetchAll reads a partition from its start and delivers chunks in order. It ends when ctx is done. It also ends if the
// topic was recreated, or if damage has removed the last messages of the log. The next generation then counts the lost
// messages.
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
	next, empty := p.start, 0
	for ctx.Err() == nil && p.newer.Load() == nil {
		if p.recheckLog {
			other, err := s.isOtherLog(ctx, p, next, p.tail, p.hasTail)
			if err != nil {
				failed(err)
				continue
			}
			if other {
				s.logRecreated(p, next)
				return // the next generation determines the start again
			}
			p.recheckLog = false
			p.end.Store(0) // so that a lower end is not taken for a recreated topic
		}
		c, err := s.fetch(ctx, p, next, s.cfg.FetchBytes)
		switch {
		case ctx.Err() != nil:
			return
		case errors.Is(err, kafka.OffsetOutOfRange):
			// Messages have expired before they were read. Continue after these messages.
			first, end, err := s.log.Offsets(ctx, p.id)
			if err == nil && next < first {
				s.countLost(p, lostRetention, next, first)
				next, p.hasTail = first, false
				continue
			}
			if err == nil && next > end {
				s.logRecreated(p, next)
				return
			}
			p.recheckLog = true
			failed(err)
			continue
		case err != nil:
			p.recheckLog = true
			s.log.Close()
			failed(err)
			continue
		}
		wait.Reset()
		// The end of a log never decreases. If it is lower than before, the topic was recreated, or its brokers have
		// lost acknowledged messages.
		if c.highWater < p.end.Load() {
			c.free()
			p.recheckLog = true
			continue
		}
		p.end.Store(c.highWater)
		s.showLag(p)
		if len(c.messages) == 0 {
			if empty++; c.highWater <= next {
				empty = 0
			}
			c.free()
			if empty == endReads {
				return
			}
			continue
		}
		empty = 0
		// The cut that the previous owner announced is repeated separately, so the chunk must end where this cut ends.
		if next < p.intent {
			c.truncate(p.intent)
		}
		// In the event log's topic, only damage causes gaps in the offsets: the broker continues after the damaged
		// messages with later offsets.
		if first := c.messages[0].offset; first > next {
			s.countLost(p, lostDamaged, next, first)
		}
		c.endAtGap()
		last := c.messages[len(c.messages)-1]
		next, p.tail, p.hasTail = last.offset+1, xxhash.Sum64(last.data), true
		for p.needsRecall(c, s.cfg.Window) {
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
		p.ages.add(next, c.oldest)
		if !s.deliver(ctx, p, c, out) {
			return
		}
	}
	if why := p.newer.Load(); why != nil {
		s.hold(ctx, p, *why)
	}
}

// deliver sends a chunk to the collector. While the collector waits for the store, fetchAll fetches nothing, and the
// log grows. So `deliver` reads the log's end at the same interval at which fetches would.
func (s *Sink) deliver(ctx context.Context, p *partition, c *chunk, out chan<- *chunk) bool {
	asked := time.Now()
	for {
		select {
		case out <- c:
			return true
		case <-ctx.Done():
			return false
		case <-time.After(s.cfg.FetchWait):
		}
		// If the end was not read for a long time, the topic may have been recreated. The sink would not notice this in
		// another way.
		if p.recheckLog = p.recheckLog || time.Since(asked) > s.cfg.FetchWait+maxWait; p.recheckLog {
			continue
		}
		_, end, err := s.log.Offsets(ctx, p.id)
		if err != nil || end < p.end.Load() {
			p.recheckLog = true
			continue
		}
		asked = time.Now()
		p.end.Store(end)
		s.showLag(p)
	}
}

func (s *Sink) fetchFailed(partition int, err error) {
	s.metrics.fetchErrors.Inc()
	s.cfg.Logger.Warn("Cannot read the log; the sink retries.", "partition", partition, "error", err)
}

// truncate removes the messages at or after an offset, except the chunk's first message.
func (c *chunk) truncate(to int64) {
	for len(c.messages) > 1 && c.messages[len(c.messages)-1].offset >= to {
		c.messages = c.messages[:len(c.messages)-1]
	}
}

// endAtGap removes the messages after the first gap in the offsets. They are fetched again, in the next chunk. So if a
// cut ends before the gap, its commit does not count the messages of the gap as lost.
func (c *chunk) endAtGap() {
	for i := 1; i < len(c.messages); i++ {
		if c.messages[i].offset > c.messages[i-1].offset+1 {
			c.messages = c.messages[:i]
		}
	}
}

// fetch reads messages at or after an offset. It waits up to FetchWait for the first message.
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
			err = c.appendRecord(record, from, records.Plain)
		}
		if err != nil {
			// Use the messages that were read. The next fetch tries to read the remaining messages again.
			if len(c.messages) > 0 {
				return c, nil
			}
			c.free()
			return nil, fmt.Errorf("cannot read a record: %w", err)
		}
	}
}

// appendRecord copies a record's value from kafka-go's buffers into the chunk.
func (c *chunk) appendRecord(record *kafka.Record, from int64, plain bool) error {
	if record.Key != nil {
		defer func() { _ = record.Key.Close() }()
	}
	if record.Value != nil {
		defer func() { _ = record.Value.Close() }()
	}
	// A broker returns whole batches, and the first batch may begin before the requested offset.
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
		// Earlier messages still refer to the old memory.
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
