// Package chserver is the process body of `octavo engine clickhouse`: a TCP
// server on loopback which speaks ClickHouse's native protocol and answers
// from libchdb, the ClickHouse engine as a shared library.
//
// Its single job is the bridge: bytes of the protocol on one side, the C API
// of the library on the other. It knows nothing of events, sites or tables,
// and it imports nothing else of this module.
//
// One client connection owns one engine connection, so session state (the
// current database, SET, temporary tables) behaves as on a real server.
// Statements of one connection run one after the other, those of several
// connections run concurrently.
//
// Rows of an INSERT are collected and inserted by one statement when the last
// block is there: a refused INSERT leaves nothing, and each partition gets one
// part up to the engine's min_insert_block_size_rows and _bytes (1,048,449
// rows, 256 MiB). The acknowledgement says that the parts' files are written,
// which outlives this process; to outlive the machine's power a table needs
// fsync_after_insert.
//
// What differs from a ClickHouse server, on purpose or because the library
// offers no more:
//   - one user, with a password that the starter of the process chooses (see
//     Config), and only on loopback. Connections that have not logged in take
//     little memory, end after seconds and keep out nobody;
//   - what comes by the wire opens no files, no addresses and no other
//     databases: the engine's own grants (access.go, users.xml) and a check of
//     the statement's words (guard.go) refuse it with ACCESS_DENIED. Rows of a
//     format in the text of an INSERT are refused with it;
//   - result columns of type AggregateFunction, Variant, Dynamic, JSON and
//     other types without a fixed layout are refused with UNKNOWN_TYPE;
//   - no totals, extremes, logs or profile events are sent, and external
//     tables are refused;
//   - blocks that are inserted twice are recognised as a whole, by a hash of
//     the INSERT's blocks, not partition by partition;
//   - if the engine connection of a client has to be replaced (its settings
//     could not be taken back), temporary tables are lost;
//   - a query id is accepted but not forwarded: the engine makes its own;
//   - progress is sent with the blocks and at the end, not by a timer;
//   - cancelling kills the statement inside the engine, which looks for it
//     between blocks: a statement that is busy inside one block (sleep(),
//     one huge sort) ends when that block is done.
//
// The engine replaces the process's handlers for fatal signals; signals.go
// puts Go's back, so a nil dereference panics and SIGTERM still works.
package chserver
