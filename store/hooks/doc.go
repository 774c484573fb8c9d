// Package hooks has the changes that others hear of: webhooks, the deliveries of their events, and the changes that
// front ends read. It is built on store/postgres. It must not import store, which has it as Store.Hooks, nor another
// room of the store.
//
// Its files by subject:
//
//	webhooks            webhooks and their secrets
//	webhook_deliveries  events, their deliveries, and pauses after failures
//	front_ends          changes of sites that front ends have not heard of
package hooks

import "github.com/octavo-docs/octavo/store/postgres"

// Store reads and writes the rows of this room.
type Store struct{ db *postgres.DB }

// New returns a Store on a database.
func New(db *postgres.DB) *Store { return &Store{db} }
