// Package queue is the queue of jobs: pending, running and failed jobs. It gives jobs their turns, finds jobs of lost
// nodes, and lists jobs for users. The SQL function give_job_turns (store/functions/jobs.sql) decides which waiting
// job runs next. The package is built on store/postgres, whose function Enqueue adds jobs. Package store provides it
// as the field Store.Queue. Of the store's packages, it may import only store/postgres and store/db.
//
// Its files by subject:
//
//	turns  gives jobs their turns, and rescues the jobs of lost nodes
//	jobs   lists, retries, counts and deletes jobs
package queue

import "github.com/octavo-docs/octavo/store/postgres"

// Store reads and writes the tables of this package.
type Store struct{ db *postgres.DB }

// New returns a Store on a database.
func New(db *postgres.DB) *Store { return &Store{db} }
