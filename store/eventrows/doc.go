// Package eventrows counts the rows that the events table should have. The counts are in Postgres, and the table is
// in ClickHouse. So the counts show when ClickHouse has lost rows. The package is built on store/postgres. Package
// store provides it as the field Store.Rows. Of the store's packages, it may import only store/postgres and store/db.
//
// Sinks count the rows that they store, up to an offset of each partition of the log (ingest/sink). Jobs note the rows
// that they delete (ingest/erasure). A node compares the counts with the table, and all nodes read the result.
//
// Its files by subject:
//
//	counted  stores the counts by partition and month, and the noted deletions
//	missing  stores the rows that the last comparison found missing or doubled
//	leaving  stores notices of rows that leave the table, and the nodes that have read the notices
package eventrows
