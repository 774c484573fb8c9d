package enginetest

import (
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
	// Apache Kafka answers before each partition has its leader.
	ends := map[string][]kafka.OffsetRequest{}
	for partition := range partitions {
		ends[name] = append(ends[name], kafka.LastOffsetOf(partition))
	}
	eventually.Succeeds(t, stepTimeout, "leaders of a Kafka topic", func() error {
		found, err := client.ListOffsets(ctx, &kafka.ListOffsetsRequest{Topics: ends})
		if err != nil {
			return err
		}
		for _, partition := range found.Topics[name] {
			err = errors.Join(err, partition.Error)
		}
		if len(found.Topics[name]) != partitions {
			err = errors.Join(err, fmt.Errorf("%d of %d partitions have one", len(found.Topics[name]), partitions))
		}
		return err
	})
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
