package db

import "github.com/jackc/pgx/v5"

// Tx returns the transaction that the statements run in, for libraries that write in the same one. Without a transaction ok
// is false. This file is not generated.
func (q *Queries) Tx() (tx pgx.Tx, ok bool) {
	tx, ok = q.db.(pgx.Tx)
	return tx, ok
}
