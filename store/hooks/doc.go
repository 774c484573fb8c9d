// Package hooks has the notifications about changes: webhooks, the deliveries of their events, and the changes that
// front ends read. It is built on store/postgres. Package store has it as Store.Hooks. It must not import store or
// another package below store, except store/postgres and store/db.
//
// Its files by subject:
//
//	webhooks            webhooks and their secrets
//	webhook_deliveries  events, their deliveries and retries; when failures disable a webhook
//	front_ends          changes of sites about which front ends were not notified yet
package hooks

import "github.com/octavo-docs/octavo/store/postgres"

// Store reads and writes the tables of this package.
type Store struct{ db *postgres.DB }

// New returns a Store on a database.
func New(db *postgres.DB) *Store { return &Store{db} }
