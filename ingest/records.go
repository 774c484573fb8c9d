package ingest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"

	"github.com/octavo-docs/octavo/schema/insights"
)

// offsetsOf are the first offset that a partition has, and the one that its
// next message will have.
func offsetsOf(ctx context.Context, client *kafka.Client, topic string, partition int) (first, next int64, err error) {
	res, err := client.ListOffsets(ctx, &kafka.ListOffsetsRequest{
		Addr:           nil,
		Topics:         map[string][]kafka.OffsetRequest{topic: {kafka.FirstOffsetOf(partition), kafka.LastOffsetOf(partition)}},
		IsolationLevel: kafka.ReadUncommitted,
	})
	if err == nil {
		err = kafka.UnknownTopicOrPartition
		for _, o := range res.Topics[topic] {
			if o.Partition == partition {
				first, next, err = o.FirstOffset, o.LastOffset, o.Error
			}
		}
	}
	if err != nil {
		return 0, 0, fmt.Errorf("cannot ask for the offsets of partition %d of %s: %w", partition, topic, err)
	}
	return first, next, nil
}

// readRecords calls f with the records from ≤ offset < to of a partition, for
// commands that read once; a nil value has none. The slices are f's. io.EOF
// from f ends it without an error.
func readRecords(ctx context.Context, client *kafka.Client, topic string, partition int, from, to int64, f func(offset int64, key, value []byte) error) error {
	return scanLog(ctx, client, topic, partition, from, to, func(r logRecord) error { return f(r.offset, r.key, r.value) })
}

// logRecord is a record and what its batch says of it.
type logRecord struct {
	offset     int64
	key, value []byte
	plain      bool // of a batch without a producer id
}

// batchReader reads the records of a fetch. plain is of the batch of the last.
type batchReader struct {
	batches []protocol.RecordReader
	plain   bool
}

func newBatchReader(records kafka.RecordReader) *batchReader {
	if stream, ok := records.(*protocol.RecordStream); ok {
		return &batchReader{batches: stream.Records}
	}
	return &batchReader{batches: []protocol.RecordReader{records}}
}

// next gives io.EOF after the last record. It leaves control batches out.
func (r *batchReader) next() (*kafka.Record, error) {
	for len(r.batches) > 0 {
		if _, control := r.batches[0].(*protocol.ControlBatch); !control {
			batch, ok := r.batches[0].(*protocol.RecordBatch)
			r.plain = !ok || batch.ProducerID < 0
			record, err := r.batches[0].ReadRecord()
			if !errors.Is(err, io.EOF) {
				return record, err
			}
		}
		r.batches = r.batches[1:]
	}
	return nil, io.EOF
}

// scanLog is readRecords with what the records' batches say.
func scanLog(ctx context.Context, client *kafka.Client, topic string, partition int, from, to int64, f func(r logRecord) error) error {
	for from < to {
		res, err := client.Fetch(ctx, &kafka.FetchRequest{
			Addr: nil, Topic: topic, Partition: partition, Offset: from,
			MinBytes: 1, MaxBytes: 4 << 20, MaxWait: 250 * time.Millisecond, IsolationLevel: kafka.ReadUncommitted,
		})
		if err == nil {
			err = res.Error
		}
		if err != nil {
			return fmt.Errorf("cannot read %s: %w", topic, err)
		}
		before := from
		records := newBatchReader(res.Records)
		for {
			record, err := records.next()
			if errors.Is(err, io.EOF) {
				break
			}
			var key, value []byte
			if err == nil {
				key, err = kafka.ReadAll(record.Key)
			}
			if err == nil {
				value, err = kafka.ReadAll(record.Value)
			}
			if err != nil {
				if from > before {
					break // what was read stands, the rest is asked for again
				}
				return fmt.Errorf("cannot read a record of %s: %w", topic, err)
			}
			if record.Offset < from {
				continue
			}
			if record.Offset >= to {
				return nil
			}
			from = record.Offset + 1
			if err := f(logRecord{record.Offset, key, value, records.plain}); err != nil {
				if errors.Is(err, io.EOF) {
					return nil
				}
				return err
			}
		}
	}
	return ctx.Err()
}

// findMessage looks for a message among those with from ≤ offset < to. next is
// how far it came: when ctx ends, the rest can be looked at from there.
func findMessage(ctx context.Context, client *kafka.Client, topic string, partition int, from, to int64, id insights.MessageID) (found bool, next int64, err error) {
	next = from
	err = readRecords(ctx, client, topic, partition, from, to, func(offset int64, _, value []byte) error {
		next = offset + 1
		if got, ok := insights.MessageIDOf(value); ok && got == id {
			found = true
			return io.EOF
		}
		return nil
	})
	return found, next, err
}
