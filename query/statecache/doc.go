// Package statecache caches aggregate states of the events table in tables of the engine. Such a table has a row for
// each group of a query, with counts and sketches. States make repeated queries of long ranges faster.
//
// A part of the events table never changes: inserts, merges and deletions make new parts. States are built from settled
// parts, which the engine rarely replaces. States are right while these parts are in the table. After each statement, a
// reader calls Confirm, which checks that the parts are still in the table. States never change an answer.
//
// A reader takes these steps:
//
//   - Parts lists the settled parts, and Spans cuts the reader's range to whole months and days.
//   - Get sets a status for each span: its states are cached, are to be built now, or are absent. The second query that
//     needs states builds them.
//   - Put builds states. A query writes only states.
//   - Confirm reports whether an answer from states is right, and caches the states that were built.
//   - Forget, Postpone and Drop handle errors. Release ends the builds that Get began.
//
// A node reads only its own states. Each attempt to build states has a random name. The states of other processes and
// of failed attempts are never read, and the engine deletes them after a day.
//
// parts.go describes parts of the table, and spans.go describes spans of time. entries.go has the node's records of
// states. settled.go lists the settled parts, tables.go writes states, and confirm.go checks whether they are right.
// The only other packages of this module that statecache imports are schema/insights and schema/sqltree.
package statecache
