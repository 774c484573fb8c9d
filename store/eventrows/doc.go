// Package eventrows counts the rows that the events table should have. The counts are in another database than the
// table, so that a loss of rows is found. It is built on store/postgres. Package store has it as Store.Rows. It must
// not import store or another package below store, except store/postgres and store/db.
//
// Sinks count the rows that they store, up to an offset of each partition of the log (ingest/sink). Jobs note the rows
// that they delete (ingest/erasure). A node compares the numbers with the table, and all nodes read the result.
//
// Its files by subject:
//
//	counted  rows by partition and month, deletions
//	missing  what the last comparison found missing or doubled
//	leaving  notices of rows that leave the table, and the nodes that have read them
package eventrows
