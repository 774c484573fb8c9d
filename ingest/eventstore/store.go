package eventstore

import (
	"context"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/insights"
)

// Store is the sink's interface to the events table. Production uses [ClickHouse]; tests inject faults in front of it.
type Store interface {
	// Insert stores all rows of a batch. It stores nothing if an earlier insert with the same token stored the rows.
	// After an error, some or all rows may be stored, and the server may store them after Insert has returned. FaultOf
	// reports whether the rows or the store caused the error. The caller may reuse the batch after Insert has returned.
	Insert(ctx context.Context, rows *insights.Batch, token string) error
	// Settle waits until every insert that was running at the call has ended. After that, these inserts store no
	// further rows.
	Settle(ctx context.Context) error
	// LastStored returns the last offset in [from, to) of a log partition from which the events table has a row.
	LastStored(ctx context.Context, partition uint16, from, to uint64) (offset uint64, found bool, err error)
	// Stored returns the rows of the events table from a log partition with offsets in [from, to].
	Stored(ctx context.Context, partition uint16, from, to uint64) ([]Row, error)
	// Months counts the rows of the events table from a log partition with offsets in [from, to), by the month in which
	// the events arrived.
	Months(ctx context.Context, partition uint16, from, to uint64) (schema.RowsByMonth, error)
	// Sequential reports whether Stored returns the rows of every insert that was acknowledged before the call. It is
	// false if Stored may read from a replica that lags behind.
	Sequential() bool
}

// Row has the position of a stored row, and enough of its content to identify the event. The position alone is not
// enough: the offsets of a recreated topic start at 0 again, so another event can have the same position.
type Row struct {
	Offset  uint64
	Index   uint16
	Content insights.RowContent
}
