package eventlog

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/segmentio/kafka-go"

	"github.com/octavo-docs/octavo/schema"
)

// ErrFull means that the broker recently refused events because the log is full.
var ErrFull = errors.New("the event log is full: it refuses events")

// fullFor is the time for which Ready returns ErrFull after the broker refused events. A node that is not ready gets no
// events, so it cannot notice that the broker accepts events again. Without this limit, the node would never become
// ready again.
const fullFor = 30 * time.Second

// refuses records whether the broker refused events because the log is full.
func (l *Log) refuses(full bool) {
	if full {
		l.fullAt.Store(schema.Elapsed(time.Now()))
	} else if l.fullAt.Load() != 0 {
		l.fullAt.Store(0)
	}
}

// full reports whether the log has recently refused events and has accepted none since then.
func (l *Log) full(now time.Time) bool {
	at := l.fullAt.Load()
	return at != 0 && schema.Elapsed(now)-at < int64(fullFor)
}

// Ready returns nil if the log accepts messages: its topic is known and exists, a broker answers, and the log is not
// full. Otherwise it returns an error. Ready sends a request to a broker, because the client's cached metadata does not
// show whether a broker runs.
func (l *Log) Ready(ctx context.Context) error {
	l.mu.RLock()
	err := l.opened()
	l.mu.RUnlock()
	if err != nil {
		return fmt.Errorf("cannot reach the event log: %w", err)
	}
	for range 2 {
		if err = l.answers(ctx); err == nil {
			if l.full(time.Now()) {
				err = ErrFull
			}
			return err
		}
		// The pooled connections may be older than the broker's last restart, so try once more with new connections.
		l.topic.Close()
	}
	return fmt.Errorf("cannot reach the event log: %w", err)
}

func (l *Log) answers(ctx context.Context) error {
	res, err := l.topic.Client.ApiVersions(ctx, &kafka.ApiVersionsRequest{Addr: nil})
	if err == nil {
		err = res.Error
	}
	if err == nil {
		_, err = l.topic.Partitions(ctx)
	}
	return err
}

// Topic returns the log's topic. It returns an error until the log has found its topic.
func (l *Log) Topic() (*Topic, error) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.topic, l.opened()
}
