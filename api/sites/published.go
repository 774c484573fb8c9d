package sites

import (
	"context"
	"net/http"

	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/customization"
)

func publishedRows(h *handlers) []frame.Operation {
	return []frame.Operation{{
		Method: http.MethodGet, Path: "/orgs/{organizationId}/sites/{siteId}/published", ID: "getPublishedContentSite", Tag: "sites",
		Doc:   "Read all that shows a site: the site, its structure, and the customization of the site and of each site space.",
		Scope: access.Having(access.RightAccess, access.OnSite).OrReaders().OrInstallation(schema.ScopeSiteMetadataRead), Status: http.StatusOK, Handler: frame.Handle(h.published),
	}}
}

// published queries the database a fixed number of times, however many site spaces there are. The list of scripts is
// empty, because integrations cannot add scripts to sites in this version.
func (h *handlers) published(
	ctx context.Context, c *access.Caller, r *structureRequest,
) (customization.PublishedSite, error) {
	seen, err := h.seenBy(ctx, c, r.ShareKey)
	if err != nil {
		return customization.PublishedSite{}, err
	}
	structure, err := h.structureAs(ctx, seen)
	if err != nil {
		return customization.PublishedSite{}, err
	}
	settings, overrides, err := h.store.Sites.Customizations(ctx, c.Site.Site.ID)
	if err != nil {
		return customization.PublishedSite{}, err
	}
	own := customization.Overlay(customization.Default(), settings)
	of := make(map[string]customization.Customization, len(overrides))
	for _, item := range structure.Structure {
		item.EachSiteSpace(func(space schema.SiteSpace) {
			of[space.ID] = customization.Overlay(own, overrides[space.ID])
		})
	}
	return customization.PublishedSite{
		Object: "published-content-site", Site: h.view.SiteFor(c.Site.Row, seen.shareKey), Structure: structure,
		Customizations: customization.PublishedCustomizations{Site: own, SiteSpaces: of},
		Scripts:        []customization.SiteScript{},
	}, nil
}
