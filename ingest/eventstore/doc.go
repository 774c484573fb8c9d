// Package eventstore is the writers' access to the events table in ClickHouse:
//
//   - [Store] inserts rows once, and reads which rows are stored
//   - [FaultOf] distinguishes errors of rows from errors of the server
//   - [Visits] creates, checks and repairs the projection of visits; [VisitsKeeper] does so in the background
//
// The table's columns and its statements are in schema/insights. Queries of
// users go through package query, not through here.
//
// It imports schema and ingest/retry, and nothing else of ours.
package eventstore
