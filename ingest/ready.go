package ingest

import (
	"context"
	"fmt"
)

// Ready says whether the log answers and has its topic.
func (l *Log) Ready(ctx context.Context) error {
	if _, err := countPartitions(ctx, l.client, l.cfg.Topic); err != nil {
		return fmt.Errorf("cannot reach the event log: %w", err)
	}
	return nil
}
