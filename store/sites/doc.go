// Package sites stores the sites of organizations: their settings, structure and readers. It also stores rows about
// sites' events. It is built on store/postgres. Package store provides it as the field Store.Sites. Of the store's
// packages, it may import only store/postgres and store/db.
//
// Its files by subject:
//
//	sites                              sites and lists of sites
//	structure                          the lock of a site, and reading its structure
//	sections, section_groups, spaces   the items of a structure
//	moves, paths                       moves of items, and paths that are made from titles
//	customization                      settings of the look of sites and site spaces
//	redirects                          redirects of paths
//	published                          sites as readers see them, from a cache
//	hostnames                          host names and the proofs of their owners
//	share_links, tokens, visitor_auth  keys that open a site to readers
//	saved_segments                     saved filters of insights
//	insights_tokens                    tokens that read a site's insights
//	insights_share_links               links to a part of a site's insights
//	publishable_keys                   keys with which browsers post events
//	annotations, occasions             annotations in graphs, which users or changes of a site create
//	insights_settings                  time zones and own hosts of sites
//	erasures                           erasures of visitors, and retention of events
//	door_salts                         salts for the ids of anonymous visitors
//	event_keys                         idempotency keys, by which a repeated post of events has no effect
package sites

import (
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/postgres"
)

// Store reads and writes the tables of this package.
type Store struct {
	db *postgres.DB
	// published caches published sites.
	published *postgres.Cache[string, *keptSite]
	// The groups `claims` and `finishes` combine concurrent changes of idempotency keys into shared statements.
	claims   *postgres.Group[eventKeyClaim, schema.KeyClaim]
	finishes *postgres.Group[eventKeyClaim, struct{}]
}

// New returns a Store on a database.
func New(db *postgres.DB) *Store {
	s := &Store{db: db, published: postgres.NewCache[string, *keptSite](keptParts)}
	s.claims = postgres.NewGroup(eventKeyClaims, eventKeyTime, s.claimEventKeys)
	s.finishes = postgres.NewGroup(eventKeyClaims, eventKeyTime, s.finishEventKeys).Gathering(eventKeyPause)
	return s
}
