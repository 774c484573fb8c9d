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
	return schema.OrganizationURLs{Location: l.API("orgs", o.ID), App: l.App("orgs", o.ID), Logo: or(o.Logo, "")}
}

func (l links) site(organization, id string, published bool) schema.SiteURLs {
	urls := schema.SiteURLs{
		Location: l.API("orgs", organization, "sites", id), App: l.App("orgs", organization, "sites", id),
	}
	if published {
		urls.Published = l.App("sites", id)
	}
	return urls
}

func (l links) collection(id string) schema.CollectionURLs {
	return schema.CollectionURLs{Location: l.API("collections", id), App: l.App("collections", id)}
}

func (l links) space(s store.Space) schema.SpaceURLs {
	urls := schema.SpaceURLs{Location: l.API("spaces", s.ID), App: l.App("spaces", s.ID), Icon: or(s.Icon, "")}
	if s.Visibility != "private" {
		urls.Published = l.App("spaces", s.ID, "published")
	}
	if s.Visibility == "public" {
		urls.Public = urls.Published
	}
	return urls
}
