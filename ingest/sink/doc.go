// Package sink brings the log to the events table: it reads each partition in
// cuts, inserts a cut, and commits its offset. Each event is stored once, also
// through crashes and beside sinks that were paused: ../DELIVERY.md says how.
//
//   - sink.go joins the group; generation.go does the work on the partitions it
//     is given: fetch.go reads, cut.go decodes, write.go inserts, progress.go
//     commits
//   - dead.go writes what cannot be stored to the dead-letter topic
//   - lost.go, backlog.go and stalled.go count and show what goes wrong
//   - reconcile.go compares log and table, repair.go restores missing rows
//   - freshness.go and members.go ask a group about its sinks, from any node
//
// It imports schema/insights, and of ingest eventlog, eventstore, deadletter,
// balance and retry. It must not import intake: all it knows of requests is the
// log's messages.
package sink
