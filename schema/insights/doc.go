// Package insights says what a visitor event is: the column table, from which
// the ClickHouse schema, the log encoding, validation, queries and the
// documents all follow; the reasons an event can be refused for; and the
// encoding of events in the log.
//
// It does no I/O. It imports schema/sqltree and nothing else of this module.
package insights
