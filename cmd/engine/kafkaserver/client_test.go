package kafkaserver_test

import (
	"testing"
	"time"

	"github.com/segmentio/kafka-go"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest/eventually"
)

func clientOf(t *testing.T, address string) *kafka.Client {
	transport := &kafka.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return &kafka.Client{Addr: kafka.TCP(address), Timeout: eventually.Patience, Transport: transport}
}

func create(t *testing.T, c *kafka.Client, topic string, partitions int, configs ...kafka.ConfigEntry) {
	t.Helper()
	res, err := c.CreateTopics(t.Context(), &kafka.CreateTopicsRequest{Topics: []kafka.TopicConfig{
		{Topic: topic, NumPartitions: partitions, ReplicationFactor: 1, ConfigEntries: configs},
	}})
	if err == nil {
		err = res.Errors[topic]
	}
	if err != nil {
		t.Fatal(err)
	}
}

func produce(t *testing.T, c *kafka.Client, topic string, partition int, values ...string) error {
	t.Helper()
	records := make([]kafka.Record, len(values))
	for i, v := range values {
		records[i] = kafka.Record{Key: kafka.NewBytes([]byte("key")), Value: kafka.NewBytes([]byte(v))}
	}
	res, err := c.Produce(t.Context(), &kafka.ProduceRequest{
		Topic: topic, Partition: partition, RequiredAcks: kafka.RequireAll, Records: kafka.NewRecordReader(records...),
	})
	if err != nil {
		return err
	}
	return res.Error
}

// read reads a partition from its first offset to its end.
func read(t *testing.T, c *kafka.Client, topic string, partition int) map[int64]string {
	t.Helper()
	first, end := offsets(t, c, topic, partition)
	found := map[int64]string{}
	for at := first; at < end; {
		res, err := c.Fetch(t.Context(), &kafka.FetchRequest{
			Topic: topic, Partition: partition, Offset: at, MinBytes: 1, MaxBytes: 1 << 20, MaxWait: time.Second,
		})
		if err == nil {
			err = res.Error
		}
		if err != nil {
			t.Fatal(err)
		}
		before := at
		for {
			r, err := res.Records.ReadRecord()
			if err != nil {
				break
			}
			value, err := kafka.ReadAll(r.Value)
			if err != nil {
				t.Fatal(err)
			}
			if r.Offset >= at {
				found[r.Offset] = string(value)
				at = r.Offset + 1
			}
		}
		if at == before {
			t.Fatalf("nothing at %d of %d", at, end)
		}
	}
	return found
}

func offsets(t *testing.T, c *kafka.Client, topic string, partition int) (first, end int64) {
	t.Helper()
	res, err := c.ListOffsets(t.Context(), &kafka.ListOffsetsRequest{Topics: map[string][]kafka.OffsetRequest{
		topic: {kafka.FirstOffsetOf(partition), kafka.LastOffsetOf(partition)},
	}})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range res.Topics[topic] {
		if o.Partition == partition && o.Error == nil {
			return o.FirstOffset, o.LastOffset
		}
	}
	t.Fatalf("no offsets of %s/%d: %+v", topic, partition, res.Topics)
	return 0, 0
}

func commit(t *testing.T, c *kafka.Client, group, topic string, partition int, offset int64, metadata string) error {
	t.Helper()
	res, err := c.OffsetCommit(t.Context(), &kafka.OffsetCommitRequest{
		GroupID: group, GenerationID: -1,
		Topics: map[string][]kafka.OffsetCommit{topic: {{Partition: partition, Offset: offset, Metadata: metadata}}},
	})
	if err != nil {
		return err
	}
	return res.Topics[topic][0].Error
}
