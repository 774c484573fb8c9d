// Package audit is the audit log. It has the list of audited tables and columns, the triggers that write the log, and
// the queries that list entries. It is built on store/postgres. Package store provides it as the field Store.Audit.
// Of the store's packages, it may import only store/postgres and store/db.
//
// Its files by subject:
//
//	log       lists and deletes entries
//	tables    lists the audited tables, with the columns that the log shows
//	triggers  has the SQL that writes entries
package audit

import "github.com/octavo-docs/octavo/store/postgres"

// Log reads and writes the tables of this package.
type Log struct{ db *postgres.DB }

// New returns a Log on a database.
func New(db *postgres.DB) *Log { return &Log{db} }
