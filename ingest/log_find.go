package ingest

import (
	"context"
	"fmt"
	"io"

	"github.com/octavo-docs/octavo/schema/insights"
)

// Partition implements [SearchableLog].
func (l *Log) Partition(shard uint64) (int, error) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	partitions, err := l.opened()
	if err != nil {
		return 0, err
	}
	return int(shard % uint64(partitions)), nil
}

// End implements [SearchableLog].
func (l *Log) End(ctx context.Context, partition int) (int64, error) {
	_, next, err := offsetsOf(ctx, l.client, l.cfg.Topic, partition)
	return next, err
}

// Find implements [SearchableLog].
func (l *Log) Find(ctx context.Context, partition int, from int64, id insights.MessageID) (found bool, next int64, err error) {
	first, end, err := offsetsOf(ctx, l.client, l.cfg.Topic, partition)
	if err != nil {
		return false, from, err
	}
	next = from
	if from < first || from > end {
		next = first // it has expired up to there, or the topic was made anew
	}
	err = readRecords(ctx, l.client, l.cfg.Topic, partition, next, end, func(offset int64, _, value []byte) error {
		next = offset + 1
		if got, ok := insights.MessageIDOf(value); ok && got == id {
			found = true
			return io.EOF
		}
		return nil
	})
	if err != nil {
		return false, next, fmt.Errorf("cannot look through partition %d: %w", partition, err)
	}
	return found, next, nil
}
