package kafkaserver

import (
	"context"
	"fmt"
	"net"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/sasl"
	"github.com/segmentio/kafka-go/sasl/scram"
)

// Ping checks that the broker at address answers a metadata request, which takes the same path as produce and fetch. It
// logs in if `user` is set.
func Ping(ctx context.Context, address, user, password string) error {
	var login sasl.Mechanism
	if user != "" {
		var err error
		if login, err = scram.Mechanism(scram.SHA256, user, password); err != nil {
			return fmt.Errorf("cannot log in to the Kafka broker: %w", err)
		}
	}
	dialer := &kafka.Dialer{SASLMechanism: login, DialFunc: (&net.Dialer{}).DialContext}
	client, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("cannot reach the Kafka broker: %w", err)
	}
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
