package eventstore

import "context"

// Names of the locks of the events table. A node holds the matching lock while it changes the table.
const (
	VisitsLock = "projection of visits" // for changes of the projection of visits
	RepairLock = "reconcile --repair"   // for putting rows back, and for deleting rows for good
)

// Locks takes all locks of these names, or none of them. They exclude other nodes. holds returns an error once another
// node may hold one of them. release releases them.
type Locks func(ctx context.Context, names ...string) (
	holds func(context.Context) error, release func() error, err error)
