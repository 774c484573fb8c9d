// Package eventstore is the writers' access to the events table in ClickHouse:
//
//   - [Store] inserts rows once, and reads which rows are stored
//   - [FaultOf] distinguishes errors of rows from errors of the server
//   - [Backup] finds the table's parts in a copy of a server's files, and [Scratch] reads them
//   - [Visits] creates, checks and repairs the projection of visits; [VisitsKeeper] does so in the background
//
// The table's columns and its statements are in schema/insights. Queries of users go through package query, and never
// through this package.
//
// Of this module it imports only schema and ingest/retry.
package eventstore
