package eventlog

import (
	"context"
	"fmt"
	"time"

	"github.com/octavo-docs/octavo/schema/insights"
)

// Choose returns the partition that Append would choose now. It returns an error while the log does not know its
// partitions.
func (l *Log) Choose() (int, error) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	p, err := l.partition(AnyPartition, time.Now())
	if err != nil {
		return 0, err
	}
	return p.id, nil
}

// End returns the offset that the partition's next message will have.
func (l *Log) End(ctx context.Context, partition int) (int64, error) {
	_, next, err := l.topic.Offsets(ctx, partition)
	return next, err
}

// Find looks for a message between an offset and the partition's end. next is where the search stopped: after ctx ends,
// a search can continue from there.
func (l *Log) Find(ctx context.Context, partition int, from int64, id insights.MessageID) (found bool, next int64, err error) {
	first, end, err := l.topic.Offsets(ctx, partition)
	if err != nil {
		return false, from, err
	}
	if from < first || from > end {
		from = first // older messages have expired, or the topic was recreated
	}
	if found, next, err = l.topic.FindMessage(ctx, partition, from, end, id); err != nil {
		return false, next, fmt.Errorf("cannot look through partition %d: %w", partition, err)
	}
	return found, next, nil
}
