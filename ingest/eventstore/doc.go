// Package eventstore is the events table in ClickHouse, as its writers see it:
//
//   - [Store] inserts rows once, and reads which ones are there
//   - [FaultOf] tells errors of rows from errors of the server
//   - [Visits] creates, checks and repairs the projection of visits; [VisitsKeeper] does so in the background
//
// The table's columns and its statements are in schema/insights. Queries of
// users go through package query, not through here.
//
// It imports schema and ingest/retry, and nothing else of ours.
package eventstore
