// Package orgs stores organizations and their people: users, members, teams, invites and logins. It is built on
// store/postgres. Package store provides it as the field Store.Orgs. Of the store's packages, it may import only
// store/postgres and store/db.
//
// Its files by subject:
//
//	orgs                         organizations and the roles of their members
//	users, members, teams        people: all users, the members of organizations, the members of teams
//	invites, email_invites       invites by link and by e-mail address
//	invite_mails                 the mails of invites, and the links in the mails
//	domains                      e-mail domains of organizations
//	saml_providers, saml_logins  identity providers, and their logins
//	sessions                     sessions that logins open
//	removal                      the deletion of members, teams and organizations, with their data
package orgs

import (
	"time"

	"github.com/octavo-docs/octavo/store/postgres"
)

// Config defines how invites work.
type Config struct {
	// InviteLifetime is the time for which new invites are valid. 0 means that they never expire.
	InviteLifetime time.Duration
	// InvitesByMail is true if a job sends new invites by mail. If it is false, the list of invites shows that no mail
	// is sent.
	InvitesByMail bool
}

// Store reads and writes the tables of this package.
type Store struct {
	db     *postgres.DB
	config Config
}

// New returns a Store on a database.
func New(db *postgres.DB, cfg Config) *Store { return &Store{db, cfg} }
