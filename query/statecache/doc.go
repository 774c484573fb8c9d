// Package statecache caches aggregate states of the events table in tables of the engine: a row for each group of a
// query, with counts and sketches. They make long ranges quick that are queried again.
//
// A part of the events table never changes: inserts, merges and deletions make other parts. States are built from
// settled parts, which the engine will hardly replace, and they are right as long as these parts are the table's.
// So a reader asks for that after each statement, with Confirm. States never change an answer.
//
// A reader goes this way:
//
//   - Parts lists the settled parts, and Spans cuts the reader's range to whole months and days.
//   - Get says for each span whether its states are cached, are to be built now, or are absent. The second query that
//     needs states builds them.
//   - Put builds states. It is the only thing that a query writes.
//   - Confirm says whether an answer from states is right, and keeps what was built.
//   - Forget, Postpone and Drop follow errors; Release ends the use of what Get said.
//
// A node reads its own states only, under a random name for each try. Nothing reads what another process or a failed
// try has left, and the engine deletes it after a day.
//
// parts.go and spans.go are values: parts of the table, and spans of time. entries.go has what the node knows of
// states. settled.go lists the settled parts, tables.go writes states, and confirm.go asks whether they are right.
// The package imports schema/insights and schema/sqltree of this module.
package statecache
