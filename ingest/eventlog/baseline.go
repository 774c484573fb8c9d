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

// ErrBaseline is wrapped by the error about a topic of another baseline.
var ErrBaseline = errors.New("another baseline")

// OtherBaseline is the error about the topic if its messages have another baseline; 0 is none.
func (t *Topic) OtherBaseline(found int) error {
	has := fmt.Sprint("baseline ", found)
	if found == 0 {
		has = "no baseline"
	}
	return fmt.Errorf("cannot use the Kafka topic %s of %w: its messages have %s and this version uses baseline %d: "+
		"name another topic in OCTAVO_KAFKA_TOPIC, or run the version that wrote them", t.Name, ErrBaseline, has, schema.Baseline)
}

// lookedAt is how many partitions CheckBaseline looks at. Messages of another baseline in the others are held.
const lookedAt = 16

// CheckBaseline returns an error if the oldest messages of the event log's topic have another baseline. Topics without
// messages are of any baseline. It reads one batch of each partition at most, and skips partitions that do not answer: a
// log without one of its brokers goes on taking events. It fails if none answers.
func (t *Topic) CheckBaseline(ctx context.Context, partitions int) error {
	var failed error
	answers := 0
	for partition := range min(partitions, lookedAt) {
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
			return nil // a producer without the right to read; the sinks look, too
		default:
			failed = err
		}
	}
	if answers > 0 {
		return nil
	}
	return failed
}

// Oldest calls f with the values of a partition's oldest batch, until f returns an error. Tombstones have none.
func (t *Topic) Oldest(ctx context.Context, partition int, f func(value []byte) error) error {
	res, err := t.Client.Fetch(ctx, &kafka.FetchRequest{
		Addr: nil, Topic: t.Name, Partition: partition, Offset: kafka.FirstOffset,
		// The broker gives one batch, if there is one, and does not wait for it.
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
