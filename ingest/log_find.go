package ingest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/segmentio/kafka-go"

	"github.com/octavo-docs/octavo/schema/insights"
)

// findBytes is what Find asks of the broker at once.
const findBytes = 4 << 20

// Partition implements [SearchableLog].
func (l *Log) Partition(shard uint64) int {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return int(shard % uint64(max(1, len(l.partitions))))
}

// End implements [SearchableLog].
func (l *Log) End(ctx context.Context, partition int) (int64, error) {
	_, next, err := l.bounds(ctx, partition)
	return next, err
}

// bounds are the first offset that the log has of a partition, and the one
// that its next message will have.
func (l *Log) bounds(ctx context.Context, partition int) (first, next int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, l.cfg.ProduceTimeout)
	defer cancel()
	res, err := l.client.ListOffsets(ctx, &kafka.ListOffsetsRequest{
		Addr:           nil,
		Topics:         map[string][]kafka.OffsetRequest{l.cfg.Topic: {kafka.FirstOffsetOf(partition), kafka.LastOffsetOf(partition)}},
		IsolationLevel: kafka.ReadUncommitted,
	})
	if err == nil {
		err = kafka.UnknownTopicOrPartition
		for _, o := range res.Topics[l.cfg.Topic] {
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

// Find implements [SearchableLog].
func (l *Log) Find(ctx context.Context, partition int, from int64, id insights.MessageID) (found bool, next int64, err error) {
	first, end, err := l.bounds(ctx, partition)
	if err != nil {
		return false, from, err
	}
	next = from
	if from < first || from > end {
		next = first // it has expired up to there, or the topic was made anew
	}
	for next < end {
		if err := ctx.Err(); err != nil {
			return false, next, fmt.Errorf("cannot look through partition %d in time: %w", partition, err)
		}
		reached, found, err := l.findOnce(ctx, partition, next, id)
		if err != nil {
			return false, next, fmt.Errorf("cannot look through partition %d: %w", partition, err)
		}
		if found {
			return true, next, nil
		}
		next = max(reached, next)
	}
	return false, next, nil
}

// findOnce looks at what one fetch brings. reached is the offset after it.
func (l *Log) findOnce(ctx context.Context, partition int, from int64, id insights.MessageID) (reached int64, found bool, err error) {
	res, err := l.client.Fetch(ctx, &kafka.FetchRequest{
		Addr:           nil,
		Topic:          l.cfg.Topic,
		Partition:      partition,
		Offset:         from,
		MinBytes:       1,
		MaxBytes:       findBytes,
		MaxWait:        100 * time.Millisecond,
		IsolationLevel: kafka.ReadUncommitted,
	})
	if err != nil {
		return from, false, err
	}
	if res.Error != nil {
		return from, false, res.Error
	}
	reached = from
	var head [insights.MessageHead]byte
	for {
		record, err := res.Records.ReadRecord()
		if errors.Is(err, io.EOF) {
			return reached, found, nil
		}
		if err != nil {
			// The last one may be cut off; the next fetch begins with it.
			if reached > from {
				return reached, found, nil
			}
			return from, false, err
		}
		reached = record.Offset + 1
		if record.Key != nil {
			_ = record.Key.Close() // memory of kafka-go's
		}
		if record.Value == nil {
			continue
		}
		n, err := io.ReadFull(record.Value, head[:])
		_ = record.Value.Close()
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return from, false, err
		}
		if got, ok := insights.MessageIDOf(head[:n]); ok && got == id {
			found = true
		}
	}
}
