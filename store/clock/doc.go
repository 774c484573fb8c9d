// Package clock stores what the installation knows about the time. It decides whether deletions by age may trust
// Postgres's clock. It is built on store/postgres. Package store has it as Store.Clock. It must not import store or
// another package below store, except store/postgres and store/db.
//
// If a machine starts with its clock in a later year, all data looks old. So each node reads the clock every minute,
// and stores the latest known time. A clock that is two days ahead of that time is in doubt. Deletions by age then
// stop. They continue when the clock is right again, when nodes have run for 24 hours, or when an operator confirms the
// time.
//
// If a clock is behind for a while, the rows of that time would look old when the clock is right again. Such rows have
// the time of the function creation_time, if their deletion would lose something.
//
// Statements that delete by age have the time of the function deletion_time (store/functions/clock.sql), and code that
// deletes has DeletionTime.
//
// If a clock was ahead for a while, rows of that time wait until the clock reaches their times again. Hasten, which
// nodes call every few seconds, corrects such times. The function hasten (store/functions/clock.sql) has the columns.
//
// Its files by subject:
//
//	clock  the latest time that nodes have read, looks, confirmations, times that lie ahead
//	look   the state that follows from a look
package clock
