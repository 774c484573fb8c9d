package store

import "context"

// insightsKeyName is the name under which the key of InsightsKey is stored. It must never change. With another key,
// known visitors would be counted as new visitors.
const insightsKeyName = "insights-visitor-hash"

// exportKeyName is the name under which the key of ExportKey is stored. It may change, but then URLs that were signed
// with the old key become invalid early.
const exportKeyName = "export-signature"

// publishableKeysName is the name under which the key of PublishableKeysSecret is stored. It must never change. With
// another key, every publishable key in use would become invalid.
const publishableKeysName = "publishable-keys"

// insightsSessionsName is the name under which the key of InsightsSessionsKey is stored. It may change, but then
// sessions of share links that were signed with the old key end early.
const insightsSessionsName = "insights-sessions"

// InsightsSessionsKey returns the installation's 32-byte key for signing sessions of share links.
func (s *Store) InsightsSessionsKey(ctx context.Context) ([]byte, error) {
	return s.db.Key(ctx, insightsSessionsName)
}

// InsightsKey returns the installation's 32-byte key for hashing visitor and session ids.
func (s *Store) InsightsKey(ctx context.Context) ([]byte, error) {
	return s.db.Key(ctx, insightsKeyName)
}

// ExportKey returns the installation's 32-byte key for signing the URLs of files.
func (s *Store) ExportKey(ctx context.Context) ([]byte, error) { return s.db.Key(ctx, exportKeyName) }

// PublishableKeysSecret returns the installation's 32-byte secret. The texts of publishable keys are derived from this
// secret.
func (s *Store) PublishableKeysSecret(ctx context.Context) ([]byte, error) {
	return s.db.Key(ctx, publishableKeysName)
}
