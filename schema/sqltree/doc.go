// Package sqltree represents ClickHouse SQL as a tree of expressions and SELECT statements, and prints it. Only this
// package handles operator precedence, identifier quoting and typed server-side parameters.
//
// A user's value can only enter a tree as a [Param], because no node prints user text. The package has no code for
// insights, and imports no other package of this module.
package sqltree
