package view

import (
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/sites"
)

// Site presents a site to a caller who has no share key.
func (v Presenter) Site(row sites.Row) schema.Site { return v.SiteFor(row, "") }

// SiteFor presents a site to a caller who has the key of a share link of the site. An empty shareKey means that the
// caller has no key.
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
