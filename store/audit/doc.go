// Package audit is the audit log: which tables and columns it shows, the triggers that write it, and the lists of its
// entries. It is built on store/postgres, and is Store.Audit of package store. It must not import store, nor another
// room of the store.
//
// Its files by subject:
//
//	log       lists and deletes entries
//	tables    the table of tables: what the log shows of each
//	triggers  the SQL that writes entries
package audit

import "github.com/octavo-docs/octavo/store/postgres"

// Log reads and writes the rows of this room.
type Log struct{ db *postgres.DB }

// New returns a Log on a database.
func New(db *postgres.DB) *Log { return &Log{db} }
