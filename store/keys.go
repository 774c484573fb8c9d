package store

import "context"

// insightsKeyName must never change. With another key, known visitors would count as new.
const insightsKeyName = "insights-visitor-hash"

// exportKeyName may change, but addresses that were signed with the old key then expire early.
const exportKeyName = "export-signature"

// publishableKeysName must never change. With another key, every publishable key on a page would become invalid.
const publishableKeysName = "publishable-keys"

// insightsSessionsName may change. Share links' sessions signed with the old key then end early.
const insightsSessionsName = "insights-sessions"

// InsightsSessionsKey returns the installation's 32-byte key for signing sessions of share links.
func (s *Store) InsightsSessionsKey(ctx context.Context) ([]byte, error) {
	return s.db.Key(ctx, insightsSessionsName)
}

// InsightsKey returns the installation's 32-byte key for hashing visitor and session ids.
func (s *Store) InsightsKey(ctx context.Context) ([]byte, error) {
	return s.db.Key(ctx, insightsKeyName)
}

// ExportKey returns the installation's 32-byte key for signing the addresses of files.
func (s *Store) ExportKey(ctx context.Context) ([]byte, error) { return s.db.Key(ctx, exportKeyName) }

// PublishableKeysSecret returns the installation's 32-byte secret that the texts of publishable keys are made with.
func (s *Store) PublishableKeysSecret(ctx context.Context) ([]byte, error) {
	return s.db.Key(ctx, publishableKeysName)
}
