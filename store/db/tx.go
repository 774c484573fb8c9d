package db

import "github.com/jackc/pgx/v5"

// Tx returns the transaction in which the statements run, so that libraries can write in the same transaction. `ok`
// is false if there is no transaction. This file is not generated.
func (q *Queries) Tx() (tx pgx.Tx, ok bool) {
	tx, ok = q.db.(pgx.Tx)
	return tx, ok
}
