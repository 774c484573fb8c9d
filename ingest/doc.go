// Package ingest is empty: its folders bring visitor events, and other things
// that flow in, to where they are queried.
//
//	intake ──► eventlog ◄── sink ──► eventstore
//	                          └────► deadletter ──► eventlog
//
// What each does:
//   - intake: HTTP body → decode → validate → enrich → one message of the log
//   - eventlog: messages → one synced produce at a time per partition → Kafka
//   - sink: Kafka → cuts of a partition → intent committed → one insert
//   - eventstore: the events table in ClickHouse, as its writers see it
//   - deadletter: events that cannot be stored, and their replay
//   - balance: what became of each site's events; intake and sink write it
//   - retry: how these packages wait between attempts
//   - eventgen: made-up events, for octavo seed and the benchmarks
//   - conversations, openapi: what is made of conversations and OpenAPI texts
//   - gitsync: files from and to Git repositories over http
//   - embed: what pages on the web call themselves
//   - outbound: the only way to hosts that users name
//   - ingesttest: what their tests share
//
// An event that Accept acknowledged is in the log; an event in the log is stored
// once. DELIVERY.md says how.
//
// Imports follow the arrows; all may import schema, fair, balance, retry and
// outbound. Nothing here imports store, query, api or cmd: the wiring passes in
// what it needs of them.
package ingest
