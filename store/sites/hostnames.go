package sites

import (
	"context"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/postgres"
)

// errHostnameTaken does not say whose it is.
var errHostnameTaken = schema.Conflict("hostname is already in use")

// mayClaim refuses a name that another site has proved.
func (w *structure) mayClaim(hostname *string) error {
	if hostname == nil {
		return nil
	}
	id, err := w.q.SiteOfHostname(w.ctx, hostname)
	switch err := postgres.Interpret(err, "hostname"); {
	case schema.IsCode(err, schema.CodeNotFound):
		return nil
	case err != nil:
		return err
	case id != w.site.ID:
		return errHostnameTaken
	}
	return nil
}

// HostnameToken is what a TXT record must hold to prove a site's claim to a name. It is made of the site: nobody can use the record
// that another one published.
func (s *Store) HostnameToken(ctx context.Context, siteID, hostname string) (string, error) {
	key, err := s.db.Key(ctx, postgres.DomainKey)
	if err != nil {
		return "", err
	}
	return postgres.DomainToken(key, "site/"+siteID, hostname), nil
}

// ProveHostname makes a name lead to the site that claims it. The first site to prove a name has it.
func (s *Store) ProveHostname(ctx context.Context, siteID, hostname, provedBy string) (Site, error) {
	row, err := s.db.Queries.ProveHostname(ctx, db.ProveHostnameParams{
		ID: siteID, Hostname: hostname, ProvedBy: &provedBy,
	})
	if err = postgres.Interpret(err, "hostname"); schema.IsCode(err, schema.CodeConflict) {
		err = errHostnameTaken
	}
	return row, err
}
