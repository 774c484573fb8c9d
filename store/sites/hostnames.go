package sites

import (
	"context"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/postgres"
)

// errHostnameTaken is the error for a hostname of another site. It does not reveal the other site.
var errHostnameTaken = schema.Conflict("hostname is already in use")

// mayClaim returns an error if another site has proved the host name.
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

// HostnameToken returns the text that a TXT record must have to prove that a host name belongs to a site. The text also
// depends on the site, so that a site cannot use the record of another site.
func (s *Store) HostnameToken(ctx context.Context, siteID, hostname string) (string, error) {
	key, err := s.db.Key(ctx, postgres.DomainKey)
	if err != nil {
		return "", err
	}
	return postgres.DomainToken(key, "site/"+siteID, hostname), nil
}

// ProveHostname records that a site has proved its host name. If another site has already proved the name, it returns a
// conflict.
func (s *Store) ProveHostname(ctx context.Context, siteID, hostname, provedBy string) (Site, error) {
	row, err := s.db.Queries.ProveHostname(ctx, db.ProveHostnameParams{
		ID: siteID, Hostname: hostname, ProvedBy: &provedBy,
	})
	if err = postgres.Interpret(err, "hostname"); schema.IsCode(err, schema.CodeConflict) {
		err = errHostnameTaken
	}
	return row, err
}
