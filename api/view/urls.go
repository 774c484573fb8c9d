package view

import (
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/orgs"
	"github.com/octavo-docs/octavo/store/sites"
)

func (v Presenter) userURLs(id string) schema.UserURLs {
	return schema.UserURLs{Location: v.API("users", id)}
}

func (v Presenter) organizationURLs(o orgs.Organization) schema.OrganizationURLs {
	return schema.OrganizationURLs{Location: v.API("orgs", o.ID), App: v.App("orgs", o.ID), Logo: schema.Or(o.Logo, "")}
}

func (v Presenter) siteURLs(s sites.Site, key string) schema.SiteURLs {
	path := []string{"orgs", s.OrganizationID, "sites", s.ID}
	return schema.SiteURLs{Location: v.API(path...), App: v.App(path...), Published: v.SiteAddress(s, key)}
}

func (v Presenter) collectionURLs(id string) schema.CollectionURLs {
	return schema.CollectionURLs{Location: v.API("collections", id), App: v.App("collections", id)}
}

func (v Presenter) spaceURLs(s store.Space, place *sites.SpacePlace) schema.SpaceURLs {
	urls := schema.SpaceURLs{
		Location: v.API("spaces", s.ID), App: v.App("spaces", s.ID), Icon: schema.Or(s.Icon, ""), Published: v.SpaceAddress(place),
	}
	if spaceVisibility(place) == schema.VisibilityPublic {
		urls.Public = urls.Published
	}
	return urls
}

// RevisionURLs returns the addresses of a revision. The newest revision of the main content has the address of the
// space. Older revisions have addresses below it. Revisions of change requests have no address for readers.
func (v Presenter) RevisionURLs(a store.PlacedSpace, r store.Revision) schema.RevisionURLs {
	urls := schema.RevisionURLs{App: v.App("spaces", a.Space.ID, "revisions", r.ID)}
	of := v.spaceURLs(a.Space, a.Place)
	if r.Branch != a.Space.ID || of.Published == "" {
		return urls
	}
	if r.ID != a.Space.Revision {
		of.Published = PublishedPath(of.Published, []string{"~", "revisions", r.ID})
		if of.Public != "" {
			of.Public = of.Published
		}
	}
	urls.Published, urls.Public = of.Published, of.Public
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
