package eventlog

import (
	"context"
	"fmt"
	"time"

	"github.com/octavo-docs/octavo/schema/insights"
)

// Choose is the partition that Append would take now if it may take any. It is
// an error as long as the log does not know its partitions.
func (l *Log) Choose() (int, error) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	p, err := l.partition(AnyPartition, time.Now())
	if err != nil {
		return 0, err
	}
	return p.id, nil
}

// End is the offset that the partition's next message will have.
func (l *Log) End(ctx context.Context, partition int) (int64, error) {
	_, next, err := l.topic.Offsets(ctx, partition)
	return next, err
}

// Find looks for a message from an offset on, to the partition's end. next is
// how far it got: when ctx ends, the search can go on from there.
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
