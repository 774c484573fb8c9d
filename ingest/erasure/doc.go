// Package erasure deletes visitors' events and expired events from the events table. It also prevents later inserts of
// these events. ERASURE.md explains why this is correct.
//
//   - list.go: the list of tombstones, which every writer of the table has in memory
//   - job.go: the erasure itself, a state machine whose state is in Postgres
//   - loop.go: runs the job in the background, under the locks that exclude other nodes
//   - metrics.go: the metrics of the job
//
// The statements that change the table are in ingest/eventstore/delete.go. This package imports schema and
// ingest/eventstore. It must not import sink, because sink imports this package to read the list.
package erasure
