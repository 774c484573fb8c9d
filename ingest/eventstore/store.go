package eventstore

import (
	"context"

	"github.com/octavo-docs/octavo/schema/insights"
)

// Store is what the sink needs of the events table. [ClickHouse] is the one in
// production; tests put faults in front of it.
type Store interface {
	// Insert stores all rows of a batch. It drops them if an earlier insert had the
	// same token. After an error, any part of the rows may be stored, even later.
	// FaultOf reports whether the rows or the store caused the error. The caller may
	// reuse the batch afterwards.
	Insert(ctx context.Context, rows *insights.Batch, token string) error
	// Settle returns once no insert that was running when it was called still
	// runs: what they have not stored by then, they never will.
	Settle(ctx context.Context) error
	// LastStored is the last of the offsets from ≤ offset < to of a partition
	// that has a row.
	LastStored(ctx context.Context, partition uint16, from, to uint64) (offset uint64, found bool, err error)
	// Stored are the rows of a partition with from ≤ offset ≤ to.
	Stored(ctx context.Context, partition uint16, from, to uint64) ([]Row, error)
	// Sequential reports whether Stored sees every insert that was acknowledged
	// before. A replica may lag behind.
	Sequential() bool
}

// Row is the position of a stored row, and enough of its content to tell it
// from another event at the same position of another log: a recreated topic
// counts from 0 again.
type Row struct {
	Offset  uint64
	Index   uint16
	Content insights.RowContent
}
