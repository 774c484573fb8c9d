package view

import (
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
)

func (l Presenter) UserURLs(id string) schema.UserURLs {
	return schema.UserURLs{Location: l.API("users", id)}
}

func (l Presenter) OrganizationURLs(o store.Organization) schema.OrganizationURLs {
	return schema.OrganizationURLs{Location: l.API("orgs", o.ID), App: l.App("orgs", o.ID), Logo: schema.Or(o.Logo, "")}
}

func (l Presenter) SiteURLs(s store.Site) schema.SiteURLs {
	path := []string{"orgs", s.OrganizationID, "sites", s.ID}
	urls := schema.SiteURLs{Location: l.API(path...), App: l.App(path...)}
	if s.Published {
		urls.Published = l.PublishedSite(s)
	}
	return urls
}

// publishedSite is where readers find a published site: behind the server that it is configured for, or here.
func (l Presenter) PublishedSite(s store.Site) string {
	if s.Proxy != nil {
		return "https://" + *s.Proxy
	}
	return l.Published("sites", s.ID)
}

func (l Presenter) CollectionURLs(id string) schema.CollectionURLs {
	return schema.CollectionURLs{Location: l.API("collections", id), App: l.App("collections", id)}
}

func (l Presenter) SpaceURLs(s store.Space) schema.SpaceURLs {
	urls := schema.SpaceURLs{Location: l.API("spaces", s.ID), App: l.App("spaces", s.ID), Icon: schema.Or(s.Icon, "")}
	if s.Visibility != "private" {
		urls.Published = l.App("spaces", s.ID, "published")
	}
	if s.Visibility == "public" {
		urls.Public = urls.Published
	}
	return urls
}

func (l Presenter) ChangeRequestURLs(space, id string) schema.ChangeRequestURLs {
	return schema.ChangeRequestURLs{
		App: l.App("spaces", space, "change-requests", id), Location: l.API("spaces", space, "change-requests", id),
	}
}

func (l Presenter) PageURLs(space, id string) schema.RevisionPageURL {
	return schema.RevisionPageURL{App: l.App("spaces", space, "pages", id)}
}
