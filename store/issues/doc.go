// Package issues has the conversations with readers, their issues, and the clusters of issues. It is built on
// store/postgres. Package store has it as Store.Issues. It must not import store or another package below store, except
// store/postgres and store/db.
//
// Its files by subject:
//
//	conversations  the conversations of a source, and their deletion
//	analysis       issues that join clusters, a bounded number at a time
//	refine         clusters that a model has read again
//	describe       titles, summaries and figures of clusters
//	clusters       lists of clusters and issues
package issues

import "github.com/octavo-docs/octavo/store/postgres"

// Store reads and writes the tables of this package.
type Store struct{ db *postgres.DB }

// New returns a Store on a database.
func New(db *postgres.DB) *Store { return &Store{db} }
