package kafkaserver

import (
	"context"
	"fmt"
	"net"
	"time"

	"github.com/segmentio/kafka-go"
)

// Ping asks the broker at address for its brokers, which goes through the loop that also serves produce and fetch.
func Ping(ctx context.Context, address string) error {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("cannot reach the Kafka broker: %w", err)
	}
	client := kafka.NewConn(conn, "", 0)
	defer func() { _ = client.Close() }()
	deadline, ok := ctx.Deadline()
	if !ok {
		deadline = time.Now().Add(5 * time.Second)
	}
	if err := client.SetDeadline(deadline); err != nil {
		return fmt.Errorf("cannot reach the Kafka broker: %w", err)
	}
	if _, err := client.Brokers(); err != nil {
		return fmt.Errorf("cannot get an answer from the Kafka broker: %w", err)
	}
	return nil
}
