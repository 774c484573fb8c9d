package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/orgs"
	"github.com/octavo-docs/octavo/store/postgres"
	"github.com/octavo-docs/octavo/store/sites"
)

// bootstrapLock is the key of an advisory lock. Bootstrap holds the lock while it creates the first user.
const bootstrapLock = migrationLock + 1

// Bootstrap has the values for the first start on an empty database. If OrganizationTitle is "", only a user is
// created. If SiteTitle is "", no site is created. If Token is "", the store generates a token.
type Bootstrap struct {
	Token             string
	DisplayName       string
	Email             string
	OrganizationTitle string
	SiteTitle         string
}

// Bootstrapped is the result of Bootstrap. If the database already had a user, Created is false and all other fields
// are empty.
type Bootstrapped struct {
	Created      bool
	Token        string
	User         orgs.User
	Organization orgs.Organization
	Site         sites.Site
}

// Bootstrap creates the first user with the requested token. The user becomes the admin of the first organization. If
// the database already has a user, Bootstrap changes nothing. So all nodes may call it concurrently at every start.
func (s *Store) Bootstrap(ctx context.Context, want Bootstrap) (Bootstrapped, error) {
	if want.Token != "" && !schema.ValidToken(want.Token) {
		return Bootstrapped{}, schema.Invalid("token", fmt.Sprintf(
			"must be at least %d visible ASCII characters without spaces", schema.MinTokenLength))
	}
	var made Bootstrapped
	err := s.db.InTx(ctx, func(tx pgx.Tx, q *db.Queries) error {
		// The lock ends with the transaction. So a node that waits for the lock sees the new user when it gets the
		// lock.
		if _, err := tx.Exec(ctx, "select pg_advisory_xact_lock($1)", int64(bootstrapLock)); err != nil {
			return err
		}
		exists, err := q.AnyUser(ctx)
		if err != nil || exists {
			return err
		}
		made, err = bootstrap(ctx, q, want)
		return err
	})
	if err != nil {
		return Bootstrapped{}, err
	}
	return made, nil
}

func bootstrap(ctx context.Context, q *db.Queries, want Bootstrap) (Bootstrapped, error) {
	made := Bootstrapped{Created: true, Token: want.Token}
	if made.Token == "" {
		made.Token = schema.NewToken()
	}
	name := want.DisplayName
	if name == "" {
		name = "Admin"
	}
	var err error
	if made.User, err = orgs.InsertUser(ctx, q, orgs.NewUser{DisplayName: name, Email: want.Email}); err != nil {
		return made, err
	}
	_, err = postgres.InsertToken(ctx, q, made.Token, db.InsertTokenParams{
		ID: schema.NewID(), Kind: string(schema.TokenUser), Name: "bootstrap", UserID: &made.User.ID,
	})
	if err != nil || want.OrganizationTitle == "" {
		return made, err
	}
	membership, err := orgs.Insert(ctx, q, made.User.ID, orgs.NewOrganization{Title: want.OrganizationTitle})
	if err != nil {
		return made, err
	}
	made.Organization = membership.Organization
	if want.SiteTitle == "" {
		return made, nil
	}
	site, err := sites.Insert(ctx, q, sites.NewSite{
		OrganizationID: made.Organization.ID, Type: "basic", Title: want.SiteTitle, Visibility: "public",
	})
	made.Site = site.Site
	return made, err
}
