// Package queue has the pending, running and failed jobs for nodes and users. It has the jobs' turns, the nodes that
// run the jobs, and the jobs' lists. The function give_job_turns (store/functions/jobs.sql) decides which waiting job
// runs next. The package is built on store/postgres, and Enqueue in that package adds jobs. Package store has it as
// Store.Queue. It must not import store or another package below store, except store/postgres and store/db.
//
// Its files by subject:
//
//	turns  jobs that may start, and jobs of nodes that are lost
//	jobs   lists of jobs, retries, totals
package queue

import "github.com/octavo-docs/octavo/store/postgres"

// Store reads and writes the tables of this package.
type Store struct{ db *postgres.DB }

// New returns a Store on a database.
func New(db *postgres.DB) *Store { return &Store{db} }
