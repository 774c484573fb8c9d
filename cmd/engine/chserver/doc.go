// Package chserver is the server of `octavo engine clickhouse`. It is a TCP server on loopback with ClickHouse's native
// protocol. It answers from libchdb, the ClickHouse engine as a shared library.
//
// Its only job is to translate between the protocol and the library's C API. It has no code for events, sites or
// tables. The only other package of this module that it may import is kafkaserver/disk, for the free disk space.
//
// Each client connection has its own engine connection. So session state (the current database, SET, temporary tables)
// behaves as on a real server. Statements of one connection run one after the other. Statements of different
// connections run concurrently.
//
// The server collects the rows of an INSERT. After the last block has arrived, it inserts all rows with one statement.
// So a refused INSERT leaves no rows. The engine writes one part (a folder of files) for each of the table's partitions
// that gets rows. If the INSERT exceeds 1,048,449 rows or 256 MiB, a partition may get several parts. These
// numbers are the engine's settings min_insert_block_size_rows and min_insert_block_size_bytes. The server acknowledges
// the INSERT after the files of the parts are written. So the rows survive the end of this process. To survive a power
// loss, a table needs fsync_after_insert.
//
// The server differs from a ClickHouse server as follows, by design or because of the library:
//
//   - There is one user, whose password the parent process chooses (see Config). The server listens on loopback only.
//     Connections that have not logged in take little memory, are closed after seconds and cannot block other
//     connections.
//   - Clients cannot open files, addresses or other databases. The engine's own grants (access.go, users.xml) and a
//     check of the statement's tokens (guard.go) refuse such statements with ACCESS_DENIED. They also refuse an INSERT
//     whose text contains the rows in a format.
//   - Result columns of type AggregateFunction, Variant, Dynamic, JSON and
//     other types without a fixed layout are refused with UNKNOWN_TYPE.
//   - With low_cardinality_allow_in_native_format = 0, a client sends an INSERT's columns without dictionaries. Columns
//     of a result have dictionaries nevertheless.
//   - Totals, extremes, logs and profile events are not sent, and external
//     tables are refused.
//   - A repeated INSERT is recognised by a hash of all its blocks, instead of a hash for each partition.
//   - If a client's engine connection has to be replaced because its settings
//     could not be reset, temporary tables are lost.
//   - A query id is accepted but not forwarded: the engine makes its own ids.
//   - Progress is sent with the blocks and at the end, not by a timer.
//   - Cancelling kills the statement inside the engine. The engine checks for a kill between blocks. So a statement
//     that is busy inside one block (sleep(), one huge sort) ends when the block is done.
//
// The library ignores failed writes. So the server runs only in a process that has loaded the write guard
// (deploy/engines/writeguard) before libc. PutGuard makes a command load the guard so early. The guard ends the process
// at the first write that the disk refuses.
//
// The engine replaces the process's handlers for fatal signals. signals.go restores Go's handlers, so that a nil
// dereference panics and SIGTERM works.
package chserver
