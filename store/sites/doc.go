// Package sites has the sites of organizations: their settings, structure and readers, and Postgres's rows about their
// events. It is built on store/postgres. Package store has it as Store.Sites. It must not import store or another
// package below store, except store/postgres and store/db.
//
// Its files by subject:
//
//	sites                              sites and lists of sites
//	structure                          the lock of a site, and all of its structure
//	sections, section_groups, spaces   the items of a structure
//	moves, paths                       places of items, and paths that are made from titles
//	customization                      looks of sites and of their site spaces
//	redirects                          redirects of paths
//	published                          sites in the form that readers see, from a cache
//	hostnames                          host names and the proofs of their owners
//	share_links, tokens, visitor_auth  keys that open a site to readers
//	saved_segments                     saved filters of insights
//	insights_tokens                    tokens that read a site's insights
//	insights_share_links               links to a part of a site's insights
//	publishable_keys                   keys with which browsers post events
//	annotations, occasions             changes of sites, which graphs show as annotations
//	insights_settings                  time zones and own hosts of sites
//	erasures                           erasures of visitors, and days of retention
//	door_salts                         salts of the visitors of browsers
//	event_keys                         idempotency keys of event posts: a repeated post has no effect
package sites

import (
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/postgres"
)

// Store reads and writes the tables of this package.
type Store struct {
	db *postgres.DB
	// published are the published sites that were read last.
	published *postgres.Cache[string, *keptSite]
	// claims and finishes gather the changes of idempotency keys.
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
