package eventstore

import "context"

// Names of the locks of the events table. A node holds one while it changes the table.
const (
	VisitsLock = "projection of visits" // for changes of the projection of visits
	RepairLock = "reconcile --repair"   // for putting rows back, and for deleting rows for good
)

// Locks takes the locks of these names, which exclude other nodes, or none of them. holds returns an error once another
// node may hold one of them. release releases them.
type Locks func(ctx context.Context, names ...string) (
	holds func(context.Context) error, release func() error, err error)
