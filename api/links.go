package api

import (
	"github.com/octavo-docs/octavo/schema"
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

func (l links) site(organization, id string, published bool) schema.SiteURLs {
	urls := schema.SiteURLs{
		Location: l.API("orgs", organization, "sites", id), App: l.App("orgs", organization, "sites", id),
	}
	if published {
		urls.Published = l.App("sites", id)
	}
	return urls
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

func (l links) changeRequest(space, id string) schema.ChangeRequestURLs {
	return schema.ChangeRequestURLs{
		App: l.App("spaces", space, "change-requests", id), Location: l.API("spaces", space, "change-requests", id),
	}
}

func (l links) page(space, id string) schema.RevisionPageURL {
	return schema.RevisionPageURL{App: l.App("spaces", space, "pages", id)}
}
