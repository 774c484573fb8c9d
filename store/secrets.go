package store

import (
	"context"
	"crypto/rand"
	"fmt"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/db"
)

// insightsKeyName must never change: with another key the same visitor would be counted as a new one.
const insightsKeyName = "insights-visitor-hash"

// exportKeyName may change: addresses that were signed with the old key end before their time.
const exportKeyName = "export-signature"

// InsightsKey gives the installation's 32-byte key for hashing visitor and session ids.
func (s *Store) InsightsKey(ctx context.Context) ([]byte, error) { return s.key(ctx, insightsKeyName) }

// ExportKey gives the installation's 32-byte key for signing the addresses of files.
func (s *Store) ExportKey(ctx context.Context) ([]byte, error) { return s.key(ctx, exportKeyName) }

// key gives a secret of the installation. It is made once; every node gets the same one, also when several ask for the first
// time together.
func (s *Store) key(ctx context.Context, name string) ([]byte, error) {
	fresh := make([]byte, 32)
	_, _ = rand.Read(fresh) // crypto/rand.Read never fails: it ends the process instead.
	err := s.queries.InsertSecretOnce(ctx, db.InsertSecretOnceParams{Name: name, Value: fresh})
	if err != nil {
		return nil, interpret(err, "secret")
	}
	// A statement of its own: the one above may have waited for another node, whose row its own snapshot cannot see.
	key, err := s.queries.Secret(ctx, name)
	if err != nil {
		return nil, interpret(err, "secret")
	}
	if len(key) != len(fresh) {
		return nil, schema.Internal(fmt.Errorf("secret %s has %d bytes", name, len(key)))
	}
	return key, nil
}
