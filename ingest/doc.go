// Package ingest takes visitor events in and brings them to the insights store:
//
//	Intake: body → decode → validate → enrich → one log message → Log
//	Log:    messages → one synced produce at a time for each partition → Kafka
//	Sink:   Kafka → batches → one ClickHouse insert → offset commit
//
// What Accept acknowledged is in the log. What is in the log is stored once:
// rows carry their position in the log, and a sink that takes a partition over
// asks the store which positions it holds already.
//
// It imports schema and schema/insights. It must not import store, query or
// api: the wiring hands it what it needs of them.
package ingest
