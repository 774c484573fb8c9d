package eventstore

import "context"

// Names of the locks of the events table. A node holds the matching lock while it changes the table.
const (
	VisitsLock = "projection of visits" // VisitsLock is for changes of the projection of visits
	RepairLock = "reconcile --repair"   // RepairLock is for restoring rows, and for deleting rows permanently
)

// Locks takes all of the named locks, or no lock. A process that has them excludes all other nodes. holds returns an
// error once another node may have one of these locks. release releases them.
type Locks func(ctx context.Context, names ...string) (
	holds func(context.Context) error, release func() error, err error)
