package store

import (
	"context"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/db"
)

// PublishedPart is a site space as far as it decides what an address leads to. At the root of a site SectionID is nil and
// SectionDefault true.
type PublishedPart = db.PublishedPartsRow

// PublishedSite is a site with its site spaces, in the order of its structure. Whether it is published, and to whom, is for
// the caller to decide.
type PublishedSite struct {
	Site Site
	// ShareLink and ShareKey are the id and the key of the active share link that was asked for; empty if there is none.
	ShareLink, ShareKey string
	Parts               []PublishedPart
}

// Row is the site as resources of sites show it.
func (p *PublishedSite) Row() SiteRow { return SiteRow{Site: p.Site, SiteSpaces: int64(len(p.Parts))} }

// ShareLinkRef names a share link by its id or by its key; both empty name none.
type ShareLinkRef struct{ ID, Key string }

// PublishedSite reads a site for its readers.
func (s *Store) PublishedSite(ctx context.Context, siteID string, link ShareLinkRef) (PublishedSite, error) {
	params := db.PublishedSiteParams{ID: siteID}
	if link.ID != "" {
		params.ShareLink = &link.ID
	}
	if link.Key != "" {
		params.ShareKey = &link.Key
	}
	row, err := s.queries.PublishedSite(ctx, params)
	if err != nil {
		return PublishedSite{}, interpret(err, "site")
	}
	parts, err := s.queries.PublishedParts(ctx, siteID)
	return PublishedSite{
		Site: row.Site, ShareLink: schema.Or(row.ShareLink, ""), ShareKey: schema.Or(row.ShareKey, ""), Parts: parts,
	}, interpret(err, "site")
}
