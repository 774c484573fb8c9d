package view

import (
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
)

func (v Presenter) userURLs(id string) schema.UserURLs {
	return schema.UserURLs{Location: v.API("users", id)}
}

func (v Presenter) organizationURLs(o store.Organization) schema.OrganizationURLs {
	return schema.OrganizationURLs{Location: v.API("orgs", o.ID), App: v.App("orgs", o.ID), Logo: schema.Or(o.Logo, "")}
}

func (v Presenter) siteURLs(s store.Site) schema.SiteURLs {
	path := []string{"orgs", s.OrganizationID, "sites", s.ID}
	urls := schema.SiteURLs{Location: v.API(path...), App: v.App(path...)}
	if s.Published {
		urls.Published = v.PublishedSite(s)
	}
	return urls
}

// PublishedSite is the URL where readers find a published site: on its configured proxy, on its own host, or here.
func (v Presenter) PublishedSite(s store.Site) string {
	if s.Proxy != nil {
		return "https://" + *s.Proxy
	}
	if s.HostnameProvedAt != nil && s.Hostname != nil {
		return "https://" + *s.Hostname
	}
	return v.Published("sites", s.ID)
}

func (v Presenter) collectionURLs(id string) schema.CollectionURLs {
	return schema.CollectionURLs{Location: v.API("collections", id), App: v.App("collections", id)}
}

func (v Presenter) SpaceURLs(s store.Space) schema.SpaceURLs {
	urls := schema.SpaceURLs{Location: v.API("spaces", s.ID), App: v.App("spaces", s.ID), Icon: schema.Or(s.Icon, "")}
	if s.Visibility != "private" {
		urls.Published = v.App("spaces", s.ID, "published")
	}
	if s.Visibility == "public" {
		urls.Public = urls.Published
	}
	return urls
}

func (v Presenter) changeRequestURLs(space, id string) schema.ChangeRequestURLs {
	return schema.ChangeRequestURLs{
		App: v.App("spaces", space, "change-requests", id), Location: v.API("spaces", space, "change-requests", id),
	}
}

func (v Presenter) pageURLs(space, id string) schema.RevisionPageURL {
	return schema.RevisionPageURL{App: v.App("spaces", space, "pages", id)}
}
