package view

import (
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/sites"
)

// Site returns the API form of a site for a caller who has no share key.
func (v Presenter) Site(row sites.Row) schema.Site { return v.SiteFor(row, "") }

// SiteFor returns the API form of a site. shareKey is the key of the share link that the caller used. It is empty if
// the caller used no share link.
func (v Presenter) SiteFor(row sites.Row, shareKey string) schema.Site {
	s := row.Site
	site := schema.Site{
		Object: "site", ID: s.ID, Type: s.Type, Title: s.Title, Visibility: s.Visibility, Published: s.Published,
		SiteSpaces: row.SiteSpaces, CreatedAt: s.CreatedAt.UTC(), AgentsContext: s.AgentsContext,
		Features: []schema.SiteFeature{}, Basename: schema.Or(s.Basename, ""), Hostname: schema.Or(s.Hostname, ""), AnonymousEvents: s.AnonymousEvents,
		URLs: v.siteURLs(s, shareKey),
	}
	if s.Proxy != nil {
		site.Proxy = &schema.SiteProxy{Origin: *s.Proxy, Target: v.Published("sites", s.ID)}
	}
	if s.AdaptiveContent != nil {
		site.AdaptiveContent = &schema.AdaptiveContent{Enabled: *s.AdaptiveContent}
	}
	return site
}
