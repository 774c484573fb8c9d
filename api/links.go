package api

import (
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
)

// links makes the `urls` of resources.
type links struct {
	schema.URLs
}

func (l links) user(id string) schema.UserURLs {
	return schema.UserURLs{Location: l.API("users", id)}
}

func (l links) organization(id string) schema.OrganizationURLs {
	return schema.OrganizationURLs{Location: l.API("orgs", id), App: l.App("orgs", id)}
}

func (l links) site(s store.Site) schema.SiteURLs {
	urls := schema.SiteURLs{Location: l.siteAPI(s), App: l.App("orgs", s.OrganizationID, "sites", s.ID)}
	if s.Published {
		urls.Published = l.publishedSite(s)
	}
	return urls
}

// siteAPI is the address of a part of a site in the API.
func (l links) siteAPI(s store.Site, elements ...string) string {
	return l.API(append([]string{"orgs", s.OrganizationID, "sites", s.ID}, elements...)...)
}

// publishedSite is where readers find a published site: behind the server that it is configured for, or here.
func (l links) publishedSite(s store.Site) string {
	if s.Proxy != nil {
		return "https://" + *s.Proxy
	}
	return l.Published("sites", s.ID)
}

func (l links) space(id, visibility string) schema.SpaceURLs {
	urls := schema.SpaceURLs{Location: l.API("spaces", id), App: l.App("spaces", id)}
	if visibility != "private" {
		urls.Published = l.App("spaces", id, "published")
	}
	if visibility == "public" {
		urls.Public = urls.Published
	}
	return urls
}
