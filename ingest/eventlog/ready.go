package eventlog

import (
	"context"
	"fmt"

	"github.com/segmentio/kafka-go"
)

// Ready returns an error unless the log takes messages: its topic is known and exists, and a broker answers. It sends a
// request to a broker, because the client answers from its cache even if no broker does.
func (l *Log) Ready(ctx context.Context) error {
	l.mu.RLock()
	err := l.opened()
	l.mu.RUnlock()
	if err != nil {
		return fmt.Errorf("cannot reach the event log: %w", err)
	}
	for range 2 {
		if err = l.answers(ctx); err == nil {
			return nil
		}
		// The pooled connections may be older than the broker's restart.
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
