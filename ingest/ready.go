package ingest

import (
	"context"
	"fmt"

	"github.com/segmentio/kafka-go"
)

// Ready says whether the log takes messages: a broker answers, and the topic is
// there and known.
func (l *Log) Ready(ctx context.Context) error {
	l.mu.RLock()
	_, err := l.opened()
	l.mu.RUnlock()
	if err == nil {
		err = l.answered(ctx)
	}
	if err == nil {
		_, err = countPartitions(ctx, l.client, l.cfg.Topic)
	}
	if err != nil {
		return fmt.Errorf("cannot reach the event log: %w", err)
	}
	return nil
}

// answered asks a broker something that the client does not answer from memory,
// as it does for topics while their brokers are away. The second attempt is for
// a connection that broke since it was last used.
func (l *Log) answered(ctx context.Context) error {
	var err error
	for range 2 {
		var res *kafka.ApiVersionsResponse
		if res, err = l.client.ApiVersions(ctx, &kafka.ApiVersionsRequest{Addr: nil}); err == nil {
			return res.Error
		}
	}
	return err
}
