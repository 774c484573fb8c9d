package view

import (
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
)

func (v Presenter) Site(row store.SiteRow) schema.Site {
	s := row.Site
	site := schema.Site{
		Object: "site", ID: s.ID, Type: s.Type, Title: s.Title, Visibility: s.Visibility, Published: s.Published,
		SiteSpaces: row.SiteSpaces, CreatedAt: s.CreatedAt.UTC(), AgentsContext: s.AgentsContext,
		Features: []schema.SiteFeature{}, Basename: schema.Or(s.Basename, ""), Hostname: schema.Or(s.Hostname, ""), AnonymousEvents: s.AnonymousEvents,
		URLs: v.siteURLs(s),
	}
	if s.Proxy != nil {
		site.Proxy = &schema.SiteProxy{Origin: *s.Proxy, Target: v.Published("sites", s.ID)}
	}
	if s.AdaptiveContent != nil {
		site.AdaptiveContent = &schema.AdaptiveContent{Enabled: *s.AdaptiveContent}
	}
	return site
}
