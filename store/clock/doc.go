// Package clock stores the latest time that the installation has seen. It decides whether deletions by age may trust
// Postgres's clock. It is built on store/postgres. Package store provides it as the field Store.Clock. Of the store's
// packages, it may import only store/postgres and store/db.
//
// If a machine starts with its clock in a later year, all data looks old, and deletions by age would delete it. So each
// node reads the clock every minute, and stores the latest known time. A clock that is more than two days ahead of the
// latest known time is in doubt. Deletions by age then stop. They continue when the clock is right again, when nodes
// have run for 24 hours, or when an operator confirms the time.
//
// While a clock is behind, rows get times that look old as soon as the clock is right again. So rows whose early
// deletion would lose data get their time from the function creation_time.
//
// Deletions by age measure ages from a trusted time. SQL statements use the function deletion_time
// (store/functions/clock.sql), and Go code uses DeletionTime.
//
// While a clock is ahead, rows get times that lie in the future as soon as the clock is right again. Jobs would wait
// for these times. Hasten, which nodes call every few seconds, corrects such times. The function hasten
// (store/functions/clock.sql) lists the columns.
//
// Its files by subject:
//
//	clock  the latest time that nodes have read, looks, confirmations, times that lie ahead
//	look   the state that follows from a look
package clock
