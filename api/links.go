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

func (l links) organization(o store.Organization) schema.OrganizationURLs {
	return schema.OrganizationURLs{Location: l.API("orgs", o.ID), App: l.App("orgs", o.ID), Logo: schema.Or(o.Logo, "")}
}

func (l links) site(s store.Site) schema.SiteURLs {
	path := []string{"orgs", s.OrganizationID, "sites", s.ID}
	urls := schema.SiteURLs{Location: l.API(path...), App: l.App(path...)}
	if s.Published {
		urls.Published = l.publishedSite(s)
	}
	return urls
}

// publishedSite is where readers find a published site: behind the server that it is configured for, or here.
func (l links) publishedSite(s store.Site) string {
	if s.Proxy != nil {
		return "https://" + *s.Proxy
	}
	return l.Published("sites", s.ID)
}

func (l links) collection(id string) schema.CollectionURLs {
	return schema.CollectionURLs{Location: l.API("collections", id), App: l.App("collections", id)}
}

func (l links) space(s store.Space) schema.SpaceURLs {
	urls := schema.SpaceURLs{Location: l.API("spaces", s.ID), App: l.App("spaces", s.ID), Icon: schema.Or(s.Icon, "")}
	if s.Visibility != "private" {
		urls.Published = l.App("spaces", s.ID, "published")
	}
	if s.Visibility == "public" {
		urls.Public = urls.Published
	}
	return urls
}

func (l links) changeRequest(space, id string) schema.ChangeRequestURLs {
	return schema.ChangeRequestURLs{
		App: l.App("spaces", space, "change-requests", id), Location: l.API("spaces", space, "change-requests", id),
	}
}

func (l links) page(space, id string) schema.RevisionPageURL {
	return schema.RevisionPageURL{App: l.App("spaces", space, "pages", id)}
}
