// Package apispecs has the OpenAPI specifications of organizations and their versions. It is built on store/postgres.
// Package store has it as Store.Specs. It must not import store or another package below store, except store/postgres
// and store/db.
//
// Its files by subject:
//
//	specs    specifications, their sources and versions
//	fetches  which specifications jobs fetch, and how that ended
package apispecs

import "github.com/octavo-docs/octavo/store/postgres"

// Store reads and writes the tables of this package.
type Store struct {
	db *postgres.DB
	// versions is the number of versions of a specification that are stored; 0 means all.
	versions int32
}

// New returns a Store on a database. versions is the number of versions of a specification that it stores; 0 means all.
func New(db *postgres.DB, versions int32) *Store { return &Store{db, versions} }
