package enginetest

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/segmentio/kafka-go"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest/eventually"
)

// Kafka returns the brokers' addresses.
func Kafka(t testing.TB) []string {
	t.Helper()
	brokers, err := kafkaBrokers()
	require(t, err)
	return brokers
}

// Topic creates a topic for the test, which is deleted when the test ends.
func Topic(t testing.TB, partitions int) string {
	t.Helper()
	client := &kafka.Client{Addr: kafka.TCP(Kafka(t)...), Timeout: eventually.Patience}
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
	eventually.Succeeds(t, "leaders of a Kafka topic", func() error { return led(ctx, client, name, partitions) })
	return name
}

// led returns nil once every partition has a leader. Apache Kafka reports a topic as created before its partitions have
// leaders.
func led(ctx context.Context, client *kafka.Client, topic string, partitions int) error {
	var ends []kafka.OffsetRequest
	for partition := range partitions {
		ends = append(ends, kafka.LastOffsetOf(partition))
	}
	found, err := client.ListOffsets(ctx, &kafka.ListOffsetsRequest{Topics: map[string][]kafka.OffsetRequest{topic: ends}})
	if err != nil {
		return err
	}
	for _, partition := range found.Topics[topic] {
		err = errors.Join(err, partition.Error)
	}
	if n := len(found.Topics[topic]); n != partitions {
		err = errors.Join(err, fmt.Errorf("%d of %d partitions have a leader", n, partitions))
	}
	return err
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
