package eventlog

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

// Record is a record of a topic. A nil Value is a tombstone.
type Record struct {
	Offset     int64
	Key, Value []byte
	// Plain means that the record's batch has no producer id, so the log may contain the record twice.
	Plain bool
}

// BatchReader reads the records that a fetch returned.
type BatchReader struct {
	// Plain reports whether the last record that Next returned is from a batch without a producer id.
	Plain bool

	batches []protocol.RecordReader
}

// NewBatchReader returns a reader for the records that a fetch returned.
func NewBatchReader(records kafka.RecordReader) *BatchReader {
	if stream, ok := records.(*protocol.RecordStream); ok {
		return &BatchReader{batches: stream.Records}
	}
	return &BatchReader{batches: []protocol.RecordReader{records}}
}

// Next returns the next record, or io.EOF after the last record. It skips control batches.
func (r *BatchReader) Next() (*kafka.Record, error) {
	for len(r.batches) > 0 {
		if _, control := r.batches[0].(*protocol.ControlBatch); !control {
			batch, ok := r.batches[0].(*protocol.RecordBatch)
			r.Plain = !ok || batch.ProducerID < 0
			record, err := r.batches[0].ReadRecord()
			if !errors.Is(err, io.EOF) {
				return record, err
			}
		}
		r.batches = r.batches[1:]
	}
	return nil, io.EOF
}

// ErrNoEnd means that the last records of a partition are missing, because its files are damaged.
var ErrNoEnd = errors.New("its log is damaged")

// maxEmpty is the number of consecutive empty answers that Scan accepts. After the next empty answer, Scan returns
// ErrNoEnd.
const maxEmpty = 40

// Scan calls f with each record of a partition whose offset is in [from, to). f may retain the record's bytes. If f
// fails, Scan stops and returns f's error. Scan skips offsets without records. It fails with ErrNoEnd if the broker
// returns no further record although the range has not ended.
func (t *Topic) Scan(ctx context.Context, partition int, from, to int64, f func(Record) error) error {
	for empty := 0; from < to; {
		res, err := t.Client.Fetch(ctx, &kafka.FetchRequest{
			Addr: nil, Topic: t.Name, Partition: partition, Offset: from,
			MinBytes: 1, MaxBytes: 4 << 20, MaxWait: 250 * time.Millisecond, IsolationLevel: kafka.ReadUncommitted,
		})
		if err == nil {
			err = res.Error
		}
		if err != nil {
			return fmt.Errorf("cannot read %s: %w", t.Name, err)
		}
		before := from
		records := NewBatchReader(res.Records)
		for {
			record, err := records.Next()
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
					break // keep the records that were read, and fetch the rest again
				}
				return fmt.Errorf("cannot read a record of %s: %w", t.Name, err)
			}
			if record.Offset < from {
				continue
			}
			if record.Offset >= to {
				return nil
			}
			from, empty = record.Offset+1, 0
			if err := f(Record{record.Offset, key, value, records.Plain}); err != nil {
				return err
			}
		}
		if empty++; empty > maxEmpty {
			return fmt.Errorf("cannot read %s: partition %d ends at %d but has no message from offset %d on: %w",
				t.Name, partition, res.HighWatermark, from, ErrNoEnd)
		}
	}
	return ctx.Err()
}

// FindMessage looks for a message among the records with offsets in [from, to). `next` is the offset at which the
// search stopped. If ctx ended, another search can continue from `next`.
func (t *Topic) FindMessage(ctx context.Context, partition int, from, to int64, id insights.MessageID) (found bool, next int64, err error) {
	next = from
	errFound := errors.New("found")
	err = t.Scan(ctx, partition, from, to, func(r Record) error {
		next = r.Offset + 1
		if got, ok := insights.MessageIDOf(r.Value); ok && got == id {
			found = true
			return errFound
		}
		return nil
	})
	if found {
		err = nil
	}
	return found, next, err
}
