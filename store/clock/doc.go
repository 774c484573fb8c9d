// Package clock has what the installation knows of the time, and says whether Postgres's clock may be trusted with
// deletions by age. It is built on store/postgres. It must not import store, which has it as Store.Clock, nor another
// room of the store.
//
// A machine that starts in a wrong year finds everything old. So each node looks at the clock every minute, and the
// furthest time that nodes have seen is kept. A clock that is two days ahead of that time is in doubt. Then nothing is
// deleted by age until it is right again, until nodes have run for 24 hours, or until an operator confirms the time.
//
// Statements that delete by age have the time of the function deletion_time (store/functions/clock.sql), and code that
// deletes has DeletionTime.
//
// Its files by subject:
//
//	clock  the furthest time that nodes have seen, looks, confirmations
//	look   what a look makes of that
package clock
