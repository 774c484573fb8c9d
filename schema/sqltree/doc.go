// Package sqltree is ClickHouse SQL as a tree: expressions and one SELECT
// statement, with operator precedence, identifier quoting and typed
// server-side parameters in a single place, and a printer.
//
// A value that came from a user can only enter a tree as a [Param]; there is
// no node that prints user text. The package knows nothing of insights and
// imports nothing of this module.
package sqltree
