package eventlog

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/octavo-docs/octavo/schema/insights"
)

// Choose returns the partition that Append would choose now. It returns an error until the log has read the topic's
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

// recentEndAge is the largest age of an offset that RecentEnd returns. A larger age would make Find read more messages.
const recentEndAge = time.Second

// recentEnds caches the last known end of each partition.
type recentEnds struct {
	mu     sync.Mutex
	of     map[int]knownEnd // of has the known end of each partition, by its number
	flight singleflight.Group
}

type knownEnd struct {
	offset int64
	asked  time.Time
}

// RecentEnd returns an offset that was the end of a partition at most a second ago. Messages that are appended after
// the call have this offset or a higher offset. Concurrent callers share one request to the broker. If the topic was
// recreated, its new end can be lower than the cached end. Find then begins at the first message.
func (l *Log) RecentEnd(ctx context.Context, partition int) (int64, error) {
	// A caller whose context has ended must get an error. Without this check, the select below could return the
	// broker's answer.
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	l.ends.mu.Lock()
	known, found := l.ends.of[partition]
	l.ends.mu.Unlock()
	if found && time.Since(known.asked) < recentEndAge {
		return known.offset, nil
	}
	flight := l.ends.flight.DoChan(strconv.Itoa(partition), func() (any, error) {
		// The callers share the answer, so the request must not be cancelled with the first caller's context.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), l.cfg.ProduceTimeout)
		defer cancel()
		asked := time.Now()
		end, err := l.End(ctx, partition)
		if err != nil {
			return int64(0), err
		}
		l.ends.mu.Lock()
		defer l.ends.mu.Unlock()
		if l.ends.of == nil {
			l.ends.of = map[int]knownEnd{}
		}
		l.ends.of[partition] = knownEnd{end, asked}
		return end, nil
	})
	select {
	case answer := <-flight:
		end, _ := answer.Val.(int64)
		return end, answer.Err
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

// ErrUnknowable is wrapped by the error of Find if the log no longer has all messages that the search must read.
var ErrUnknowable = errors.New("the messages are gone")

// Find looks for a message between an offset and the partition's end. `next` is the offset at which the search stopped.
// If ctx ended, another search can continue from `next`. If older messages have expired, or if the topic was recreated,
// Find begins at the first message. It then cannot prove that the message was never appended. So if it does not find
// the message, it returns ErrUnknowable, and `next` is `from`.
func (l *Log) Find(ctx context.Context, partition int, from int64, id insights.MessageID) (found bool, next int64, err error) {
	first, end, err := l.topic.Offsets(ctx, partition)
	if err != nil {
		return false, from, err
	}
	begin, gone := from, from < first || from > end
	if gone {
		begin = first
	}
	found, next, err = l.topic.FindMessage(ctx, partition, begin, end, id)
	if gone && !found {
		next = from // a search from a later offset would not see that messages are gone
		if err == nil {
			err = fmt.Errorf("from offset %d on, %w", from, ErrUnknowable)
		}
	}
	if err != nil {
		return false, next, fmt.Errorf("cannot look through partition %d: %w", partition, err)
	}
	return found, next, nil
}
