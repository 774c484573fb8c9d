// Package apispecs has the OpenAPI specifications of organizations and their versions. It is built on store/postgres.
// It must not import store, which has it as Store.Specs, nor another room of the store.
//
// Its files by subject:
//
//	specs    specifications, their sources and versions
//	fetches  which specifications jobs fetch, and how that ended
package apispecs

import "github.com/octavo-docs/octavo/store/postgres"

// Store reads and writes the rows of this room.
type Store struct {
	db *postgres.DB
	// versions is how many versions of a specification are kept; 0 means all.
	versions int32
}

// New returns a Store on a database. It keeps this many versions of a specification; 0 means all.
func New(db *postgres.DB, versions int32) *Store { return &Store{db, versions} }
