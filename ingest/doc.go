// Package ingest takes visitor events in and brings them to the insights store:
//
//	Intake: body → decode → validate → enrich → one log message → Log
//	Log:    messages → one synced produce at a time for each partition → Kafka
//	Sink:   Kafka → cuts of a partition → intent committed → one ClickHouse insert
//
// What Accept acknowledged is in the log. What is in the log is stored once:
// DELIVERY.md says how. Log and Sink start while Kafka is away, and wait for it.
//
// It imports schema and schema/insights. It must not import store, query or
// api: the wiring hands it what it needs of them.
package ingest
