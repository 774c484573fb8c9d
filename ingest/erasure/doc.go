// Package erasure deletes visitors' events and expired events from the events table, and keeps them out. ERASURE.md
// explains why this is correct.
//
//   - list.go: the tombstones, as every writer of the table has them in memory
//   - job.go: the erasure itself, a state machine whose state is in Postgres
//   - loop.go: runs the job in the background, under the locks that exclude other nodes
//   - metrics.go: its metrics
//
// The statements that change the table are in ingest/eventstore/delete.go. It imports schema and ingest/eventstore. It
// must not import sink, which reads the list.
package erasure
