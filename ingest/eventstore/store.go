package eventstore

import (
	"context"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/insights"
)

// Store is the sink's interface to the events table. Production uses [ClickHouse]; tests inject faults in front of it.
type Store interface {
	// Insert stores all rows of a batch. It drops the rows if an earlier insert had the same token. After an error, any
	// of the rows may be stored, even later. FaultOf reports whether the rows or the store caused the error. The caller
	// may reuse the batch afterwards.
	Insert(ctx context.Context, rows *insights.Batch, token string) error
	// Settle waits until every insert that was running at the call has ended. Rows that these inserts have not stored
	// by then are never stored.
	Settle(ctx context.Context) error
	// LastStored returns the last offset with a row of a partition, among the offsets in [from, to).
	LastStored(ctx context.Context, partition uint16, from, to uint64) (offset uint64, found bool, err error)
	// Stored returns the rows of a partition with offsets in [from, to].
	Stored(ctx context.Context, partition uint16, from, to uint64) ([]Row, error)
	// Months counts the rows of a partition with offsets in [from, to), by the month of their arrival.
	Months(ctx context.Context, partition uint16, from, to uint64) (schema.RowsByMonth, error)
	// Sequential reports whether Stored sees every insert that was acknowledged before. It is false if Stored may read
	// from a replica that lags behind.
	Sequential() bool
}

// Row is the position of a stored row, and enough content to identify the event. Another log may have another event at
// the same position, because the offsets of a recreated topic start at 0 again.
type Row struct {
	Offset  uint64
	Index   uint16
	Content insights.RowContent
}
