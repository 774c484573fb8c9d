// Package queue has the jobs that wait, run or failed, as nodes and users see them: their turns, the nodes that run
// them, their lists. It is built on store/postgres, whose Enqueue adds jobs. It must not import store, which has it as
// Store.Queue, nor another room of the store.
//
// Its files by subject:
//
//	turns  jobs that may start, and jobs of nodes that are lost
//	jobs   lists of jobs, retries, totals
package queue

import "github.com/octavo-docs/octavo/store/postgres"

// Store reads and writes the rows of this room.
type Store struct{ db *postgres.DB }

// New returns a Store on a database.
func New(db *postgres.DB) *Store { return &Store{db} }
