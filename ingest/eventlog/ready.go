package eventlog

import (
	"context"
	"fmt"

	"github.com/segmentio/kafka-go"
)

// Ready says whether the log takes messages: its topic is there and known, and
// a broker answers. Of the topic the client tells what it knew last, also while
// no broker answers, so one is asked something.
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
		// What the client keeps may be of before the broker's restart.
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

// Topic is the log's topic, for questions about it. It is an error as long as
// the log has not found its topic.
func (l *Log) Topic() (*Topic, error) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.topic, l.opened()
}
