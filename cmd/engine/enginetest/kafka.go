package enginetest

import (
	"errors"
	"fmt"
	"testing"

	"github.com/segmentio/kafka-go"
)

// Kafka returns the brokers' addresses.
func Kafka(t testing.TB) []string {
	t.Helper()
	brokers, err := kafkaBrokers()
	require(t, err)
	return brokers
}

// Topic creates a topic of its own for the test, which is deleted at the end of the test.
func Topic(t testing.TB, partitions int) string {
	t.Helper()
	client := &kafka.Client{Addr: kafka.TCP(Kafka(t)...), Timeout: stepTimeout}
	name := unique("test-")
	ctx, cancel := step()
	defer cancel()
	created, err := client.CreateTopics(ctx, &kafka.CreateTopicsRequest{Topics: []kafka.TopicConfig{
		{Topic: name, NumPartitions: partitions, ReplicationFactor: 1},
	}})
	if err = topicError(err, created); err != nil {
		t.Fatalf("cannot create a Kafka topic: %v", err)
	}
	t.Cleanup(func() {
		ctx, cancel := step()
		defer cancel()
		deleted, err := client.DeleteTopics(ctx, &kafka.DeleteTopicsRequest{Topics: []string{name}})
		if err == nil {
			err = deleted.Errors[name]
		}
		if err != nil && !errors.Is(err, kafka.UnknownTopicOrPartition) {
			t.Errorf("cannot delete the test's Kafka topic: %v", err)
		}
	})
	return name
}

func topicError(err error, created *kafka.CreateTopicsResponse) error {
	if err != nil {
		return err
	}
	for topic, err := range created.Errors {
		if err != nil {
			return fmt.Errorf("%s: %w", topic, err)
		}
	}
	return nil
}
