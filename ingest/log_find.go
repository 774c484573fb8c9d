package ingest

import (
	"context"
	"fmt"
	"time"

	"github.com/octavo-docs/octavo/schema/insights"
)

// Choose implements [SearchableLog].
func (l *Log) Choose() (int, error) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	p, err := l.partition(AnyPartition, time.Now())
	if err != nil {
		return 0, err
	}
	return p.id, nil
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
	if from < first || from > end {
		from = first // it has expired up to there, or the topic was made anew
	}
	if found, next, err = findMessage(ctx, l.client, l.cfg.Topic, partition, from, end, id); err != nil {
		return false, next, fmt.Errorf("cannot look through partition %d: %w", partition, err)
	}
	return found, next, nil
}
