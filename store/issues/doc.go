// Package issues stores conversations with readers of a documentation, their issues, and the clusters of issues. It
// is built on store/postgres. Package store provides it as the field Store.Issues. Of the store's packages, it may
// import only store/postgres and store/db.
//
// Its files by subject:
//
//	conversations  stores the conversations of a source, and deletes them
//	analysis       assigns issues to clusters, a limited number at a time
//	refine         stores a language model's titles and texts for clusters
//	describe       computes titles, summaries and counts of clusters
//	clusters       lists clusters and their history
package issues

import "github.com/octavo-docs/octavo/store/postgres"

// Store reads and writes the tables of this package.
type Store struct{ db *postgres.DB }

// New returns a Store on a database.
func New(db *postgres.DB) *Store { return &Store{db} }
