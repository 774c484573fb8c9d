// Package eventstore has the code that writes to the events table in ClickHouse:
//
//   - [Store] inserts rows once, and reads which rows are stored
//   - [FaultOf] distinguishes errors of rows from errors of the server
//   - [Backup] finds the table's parts in a copy of a server's files, and [Scratch] reads them
//   - [Visits] creates, checks and repairs the projection of visits; [VisitsKeeper] does so in the background
//
// The table's columns and its statements are in schema/insights. Package query has the queries of users. They never use
// this package.
//
// The only other packages of this module that it imports are schema, schema/insights, schema/sqltree and ingest/retry.
package eventstore
