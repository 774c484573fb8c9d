// Package sink moves the log's events into the events table. A cut is a range of a partition's messages. The sink reads
// a cut, inserts its rows, and commits its offset. Each event is stored once, even after crashes, and even if a sink is
// paused and resumes (../DELIVERY.md).
//
//   - sink.go joins the group, and generation.go works on the assigned partitions. fetch.go reads, cut.go decodes,
//     write.go inserts, and progress.go commits. block.go has the size of inserts
//   - dead.go writes events that cannot be stored to the dead-letter topic
//   - lost.go, backlog.go and stalled.go detect lost messages, backlogs and stalls, and export metrics about them
//   - reconcile.go compares log and table, repair.go restores missing rows
//   - audit.go compares the ledger with the table. mend.go sets damaged parts aside and restores their rows. backup.go
//     restores rows that the log does not have, from a copy of the table
//   - freshness.go and members.go read a consumer group's state on any node
//
// This package imports schema/insights. Of the packages in ingest, it imports eventlog, eventstore, deadletter, balance
// and retry. It must not import intake, because the sink sees requests only as messages of the log.
package sink
