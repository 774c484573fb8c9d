package ingest

import (
	"context"

	"github.com/octavo-docs/octavo/schema/insights"
)

// Store is where the sink puts rows. ClickHouse is the one there is; tests
// put faults before it.
type Store interface {
	// Insert stores all rows of a batch at once or not at all, or drops them if
	// rows came under the same token before. In a table that still has the layout
	// of the first version it does so for each month of the rows by itself. After an error any part of the rows may be stored, then or
	// later; refusedRows tells errors that come of what is in the rows from
	// those that come of the store's state. It does not keep the batch.
	Insert(ctx context.Context, rows *insights.Batch, token string) error
	// Settle returns when no insert that was running when it was called is
	// running any more: what is not stored then, will not be.
	Settle(ctx context.Context) error
	// LastStored is the last offset with a stored row of a partition, of those
	// with from ≤ offset < to.
	LastStored(ctx context.Context, partition uint16, from, to uint64) (offset uint64, found bool, err error)
	// Stored are the rows of a partition with from ≤ offset ≤ to.
	Stored(ctx context.Context, partition uint16, from, to uint64) ([]StoredRow, error)
	// Sequential tells whether Stored knows of all inserts that were
	// acknowledged before it was called: a replica may not yet.
	Sequential() bool
}

// StoredRow is where a stored row came from and enough of its content to tell
// it from another event at the same position of another log: a topic that was
// made anew counts from 0 again.
type StoredRow struct {
	Offset  uint64
	Index   uint16
	Content insights.RowContent
}
