package ingest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/segmentio/kafka-go"
)

// chunk is what one fetch brought of one partition. Its messages share data,
// which belongs to the batch that takes the chunk until that is stored.
type chunk struct {
	partition *partition
	messages  []fetched
	data      []byte
	highWater int64 // the offset that the partition's next message will have
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
// uses the first part, its generation's collector the second.
type partition struct {
	id    int
	start int64 // the first offset that is not stored for certain
	from  int64 // the first offset that is read

	prepared bool  // recover is known
	recover  int64 // up to this offset rows may be stored already
	repeats  repeats
}

// bounds are the first offset that the log has of a partition, and the one
// that its next message will have.
func (s *Sink) bounds(ctx context.Context, partition int) (first, next int64, err error) {
	res, err := s.client.ListOffsets(ctx, &kafka.ListOffsetsRequest{
		Addr:           nil,
		Topics:         map[string][]kafka.OffsetRequest{s.cfg.Topic: {kafka.FirstOffsetOf(partition), kafka.LastOffsetOf(partition)}},
		IsolationLevel: kafka.ReadUncommitted,
	})
	if err == nil {
		err = kafka.UnknownTopicOrPartition
		for _, o := range res.Topics[s.cfg.Topic] {
			if o.Partition == partition {
				first, next, err = o.FirstOffset, o.LastOffset, o.Error
			}
		}
	}
	if err != nil {
		return 0, 0, fmt.Errorf("cannot ask for the offsets of partition %d: %w", partition, err)
	}
	return first, next, nil
}

// locate finds where to start: at the committed offset, less what is read
// again to know the ids of the messages just before it.
func (s *Sink) locate(ctx context.Context, p *partition, committed int64) error {
	first, next, err := s.bounds(ctx, p.id)
	if err != nil {
		return err
	}
	p.start = committed
	switch {
	case committed < 0:
		p.start = first
	case committed < first:
		s.expired(p.id, committed, first)
		p.start = first
	case committed > next:
		s.cfg.Logger.Error("The log is shorter than what was stored of it: was the topic made anew? The sink reads it from its beginning.",
			"partition", p.id, "committed", committed, "end", next)
		p.start = first
	}
	p.from = max(first, p.start-int64(s.cfg.Lookback))
	return nil
}

func (s *Sink) expired(partition int, want, first int64) {
	s.metrics.lost.Add(float64(first - want))
	s.cfg.Logger.Error("Messages left the log before they were stored: the sink was away longer than the log keeps them.",
		"partition", partition, "from", want, "to", first)
}

// fetchAll reads a partition from its start and hands out chunks in order,
// until ctx is done.
func (s *Sink) fetchAll(ctx context.Context, p *partition, committed int64, out chan<- *chunk) {
	retry := backoff{wait: s.cfg.RetryWait, most: maxBackoff}
	for {
		err := s.locate(ctx, p, committed)
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
		c, err := s.fetch(ctx, p, next)
		switch {
		case ctx.Err() != nil:
			return
		case errors.Is(err, kafka.OffsetOutOfRange):
			// What expires while it is read is lost; what comes after is not.
			if first, _, err := s.bounds(ctx, p.id); err == nil && next < first {
				s.expired(p.id, next, first)
				next = first
				continue
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
		if len(c.messages) == 0 {
			c.free()
			continue
		}
		next = c.messages[len(c.messages)-1].offset + 1
		select {
		case out <- c:
		case <-ctx.Done():
			return
		}
	}
}

func (s *Sink) fetchFailed(partition int, err error) {
	s.metrics.fetchErrors.Inc()
	s.cfg.Logger.Warn("The log cannot be read, the sink tries again.", "partition", partition, "error", err)
}

// fetch reads what there is from an offset on, waiting up to FetchWait.
func (s *Sink) fetch(ctx context.Context, p *partition, from int64) (*chunk, error) {
	res, err := s.client.Fetch(ctx, &kafka.FetchRequest{
		Addr:           nil,
		Topic:          s.cfg.Topic,
		Partition:      p.id,
		Offset:         from,
		MinBytes:       1,
		MaxBytes:       int64(s.cfg.FetchBytes),
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
	if record.Value == nil {
		c.messages = append(c.messages, fetched{offset: record.Offset})
		return nil
	}
	defer func() { _ = record.Value.Close() }()
	// A broker gives whole batches, which may begin before what was asked for.
	if record.Offset < from {
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
