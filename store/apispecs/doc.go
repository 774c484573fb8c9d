// Package apispecs has the OpenAPI specifications of organizations and their versions. It is built on store/postgres.
// Package store provides it as the field Store.Specs. Of the store's packages, it may import only store/postgres and
// store/db.
//
// Its files by subject:
//
//	specs    reads and writes specifications, their sources and versions
//	fetches  records which specifications jobs must fetch, and how the fetches ended
package apispecs

import "github.com/octavo-docs/octavo/store/postgres"

// Store reads and writes the tables of this package.
type Store struct {
	db *postgres.DB
	// versions is the largest number of stored versions of a specification. 0 means that all versions are stored.
	versions int32
}

// New returns a Store on a database. `versions` is the largest number of stored versions of a specification. 0 means
// that all versions are stored.
func New(db *postgres.DB, versions int32) *Store { return &Store{db, versions} }
