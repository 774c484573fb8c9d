package eventlog

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/segmentio/kafka-go"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/insights"
)

// ErrBaseline is wrapped by the error about a topic whose messages do not have this version's baseline.
var ErrBaseline = errors.New("another baseline")

// OtherBaseline returns the error for a topic whose messages have the baseline `found`. 0 means no baseline.
func (t *Topic) OtherBaseline(found int) error {
	has := fmt.Sprint("baseline ", found)
	if found == 0 {
		has = "no baseline"
	}
	return fmt.Errorf("cannot use the Kafka topic %s of %w: its messages have %s and this version uses baseline %d: "+
		"name another topic in OCTAVO_KAFKA_TOPIC, or run the version that wrote them",
		t.Name, ErrBaseline, has, schema.Baseline)
}

// checkedPartitions is the number of partitions that CheckBaseline reads. It need not read more, because sinks also
// stop at messages of another baseline.
const checkedPartitions = 16

// CheckBaseline returns an error if the oldest messages of the event log's topic have another baseline. It accepts a
// topic without messages. It reads at most one batch of each partition. It skips partitions that do not answer, because
// a log still accepts events while one broker is down. It fails if no partition answers.
func (t *Topic) CheckBaseline(ctx context.Context, partitions int) error {
	var failed error
	answers := 0
	for partition := range min(partitions, checkedPartitions) {
		err := t.Oldest(ctx, partition, func(value []byte) error {
			if other, ok := errors.AsType[insights.BaselineError](insights.CheckBaseline(value)); ok {
				return t.OtherBaseline(other.Found)
			}
			return nil
		})
		switch {
		case err == nil:
			answers++
		case errors.Is(err, ErrBaseline):
			return err
		case errors.Is(err, kafka.TopicAuthorizationFailed):
			return nil // The producer may lack the right to read. The sinks check the topic too.
		default:
			failed = err
		}
	}
	if answers > 0 {
		return nil
	}
	return failed
}

// Oldest calls f with the values of a partition's oldest batch, until f returns an error. It skips tombstones.
func (t *Topic) Oldest(ctx context.Context, partition int, f func(value []byte) error) error {
	res, err := t.Client.Fetch(ctx, &kafka.FetchRequest{
		Addr: nil, Topic: t.Name, Partition: partition, Offset: kafka.FirstOffset,
		// With these limits, the broker returns at most one batch, and answers at once if there is none.
		MinBytes: 0, MaxBytes: 1, MaxWait: 250 * time.Millisecond, IsolationLevel: kafka.ReadUncommitted,
	})
	if err == nil {
		err = res.Error
	}
	if err != nil {
		return fmt.Errorf("cannot read %s: %w", t.Name, err)
	}
	records := NewBatchReader(res.Records)
	for {
		record, err := records.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		var value []byte
		if err == nil {
			value, err = kafka.ReadAll(record.Value)
		}
		if err != nil {
			return fmt.Errorf("cannot read a record of %s: %w", t.Name, err)
		}
		if value == nil {
			continue
		}
		if err := f(value); err != nil {
			return err
		}
	}
}
