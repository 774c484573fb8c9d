// Package audit is the audit log. It has the table of the audited tables and columns, the triggers that write the log,
// and the lists of entries. It is built on store/postgres. Package store has it as Store.Audit. It must not import
// store or another package below store, except store/postgres and store/db.
//
// Its files by subject:
//
//	log       lists and deletes entries
//	tables    the list of audited tables: what the log shows of each
//	triggers  the SQL that writes entries
package audit

import "github.com/octavo-docs/octavo/store/postgres"

// Log reads and writes the tables of this package.
type Log struct{ db *postgres.DB }

// New returns a Log on a database.
func New(db *postgres.DB) *Log { return &Log{db} }
