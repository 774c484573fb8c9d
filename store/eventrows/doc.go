// Package eventrows counts how many rows the events table should have. The numbers are outside of the table's store, so
// that a loss of rows shows. It is built on store/postgres. It must not import store, which has it as Store.Rows,
// nor another room of the store.
//
// Sinks count the rows that they store, up to an offset of each partition of the log (ingest/sink). Jobs note the rows
// that they delete (ingest/erasure). A node compares the numbers with the table, and all nodes read the result.
//
// Its files by subject:
//
//	counted  rows by partition and month, deletions
//	missing  what the last comparison found missing
package eventrows
