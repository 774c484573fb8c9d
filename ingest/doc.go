// Package ingest has no code. Its folders bring visitor events from HTTP requests to the events table.
//
//	intake ──► eventlog ◄── sink ──► eventstore
//	                          └────► deadletter ──► eventlog
//
//	intake      HTTP body → decode → validate → enrich → one message of the log
//	eventlog    messages → one synced produce at a time per partition → Kafka
//	sink        Kafka → batches of a partition → intent committed → one insert
//	eventstore  the events table in ClickHouse, as its writers see it
//	deadletter  events that cannot be stored, and their replay
//	balance     what became of each site's events; intake and sink write it
//	erasure     erases visitors, and events past their site's retention
//	retry       pauses between attempts
//	eventgen    example events, for octavo seed and the benchmarks
//	ingesttest  helpers for tests
//
// Every event that Accept acknowledged is in the log. The sink stores every event of the log exactly once. DELIVERY.md
// has the proof.
//
// Imports follow the arrows. All packages here may import schema, balance and retry. No package here imports store,
// query, api or cmd. Instead, cmd passes in the functions that the packages need.
package ingest
