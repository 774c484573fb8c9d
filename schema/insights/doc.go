// Package insights defines visitor events. It has the column table, with the operators, intervals and extra parameters
// that its rows use. It also has the reasons for refusing an event, and the encoding of events in the log. The
// ClickHouse schema, validation, queries and the documentation are all derived from these tables.
//
// It does no I/O. The only other packages of this module that it imports are schema/section and schema/sqltree.
package insights
