package eventstore

import "context"

// Names of the locks of the events table.
const (
	VisitsLock = "projection of visits" // a node holds VisitsLock while it changes the projection of visits
	RepairLock = "reconcile --repair"   // a node holds RepairLock while it restores rows, or deletes rows permanently
)

// Locks takes all of the named locks, or no lock. While a process holds a lock, no other node can take it. `holds`
// returns an error as soon as another node may have taken one of these locks. `release` releases the locks.
type Locks func(ctx context.Context, names ...string) (
	holds func(context.Context) error, release func() error, err error)
