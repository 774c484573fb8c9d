package insights

import (
	"context"
	"net/http"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
)

// insightsAccess has the operation that returns the caller's access to insights.
type insightsAccess struct{ store *store.Store }

func accessOperations(h *insightsAccess) []frame.Operation {
	return []frame.Operation{{
		Method: http.MethodGet, Path: insightsBase + "/access", ID: "getSiteInsightsAccess", Tag: "insights",
		Doc: "Read which site's insights the caller reads: the site's title, when the token ends, and the part that " +
			"a share link shows. An addition to the published contract.",
		Scope: queryScope(), Status: http.StatusOK, Handler: frame.Handle(h.get),
	}}
}

func (h *insightsAccess) get(ctx context.Context, c *access.Caller, _ *struct{}) (schema.InsightsAccess, error) {
	site, err := h.store.Sites.ByID(ctx, c.EventSite.SiteID)
	if err != nil {
		return schema.InsightsAccess{}, err
	}
	a := schema.InsightsAccess{
		Object: "insights-access",
		Site:   schema.InsightsSite{ID: site.ID, Organization: site.OrganizationID, Title: site.Title},
	}
	if ends := c.Principal.ExpiresAt; !ends.IsZero() {
		a.ExpiresAt = schema.UTC(&ends)
	}
	if c.View != nil {
		part := partOf(*c.View)
		a.Part = &part
	}
	return a, nil
}

// partOf returns the API form of the part of the insights that a share link shows.
func partOf(v schema.InsightsView) schema.InsightsPart {
	return schema.InsightsPart{
		Where: listOr(v.Where), Segments: append([]string{}, v.Segments...), Ranges: listOr(v.Ranges),
		Timezone: v.Timezone,
	}
}

// listOr returns the text of a JSON list. If the text is empty, it returns the text of an empty list.
func listOr(text []byte) jsontext.Value {
	if len(text) == 0 {
		return jsontext.Value("[]")
	}
	return jsontext.Value(text)
}
