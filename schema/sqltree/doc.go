// Package sqltree represents ClickHouse SQL as a tree of expressions and SELECT
// statements, and prints it. Operator precedence, identifier quoting and typed
// server-side parameters are handled here and nowhere else.
//
// A user's value can only enter a tree as a [Param]; no node prints user text. The package has no code for insights,
// and imports no other package of this module.
package sqltree
