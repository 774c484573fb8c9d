// Package hooks stores notifications about changes: webhooks, the deliveries of their events, and changes for front
// ends. It is built on store/postgres. Package store provides it as the field Store.Hooks. Of the store's packages,
// it may import only store/postgres and store/db.
//
// Its files by subject:
//
//	webhooks            stores webhooks and their secrets
//	webhook_deliveries  stores events, their deliveries and retries; disables a webhook that fails for too long
//	front_ends          stores changes of sites about which front ends were not notified yet
package hooks

import "github.com/octavo-docs/octavo/store/postgres"

// Store reads and writes the tables of this package.
type Store struct{ db *postgres.DB }

// New returns a Store on a database.
func New(db *postgres.DB) *Store { return &Store{db} }
