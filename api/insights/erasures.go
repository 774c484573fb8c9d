package insights

import (
	"context"
	"net/http"

	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/schema"
)

// VisitorErasures erases visitors of sites. Its answer does not depend on whether the visitor has events.
type VisitorErasures interface {
	Erase(ctx context.Context, siteID, visitorID string) (schema.VisitorErasure, error)
	Erasure(ctx context.Context, siteID, visitorID string) (schema.VisitorErasure, error)
}

// siteErasures has the operations that delete events.
type siteErasures struct{ erasures VisitorErasures }

func erasureOperations(h *siteErasures) []frame.Operation {
	const visitor = insightsBase + "/visitors/{visitorId}"
	admin := access.Having(access.RightAdmin, access.OnInsights)
	return []frame.Operation{
		{
			Method: http.MethodDelete, Path: visitor, ID: "eraseSiteVisitor", Tag: "insights",
			Doc: "Erase a visitor: all events with this session.visitorId that were received before the answer's erasedUntil, from the events table and all that is derived from it. " +
				"The event log and the dead letters lose them by their retention, at logUntil; until then " +
				"nothing brings them back. Events that are received after the answer are new; asking again " +
				"erases them.",
			Scope: admin, Status: http.StatusAccepted, Handler: frame.Handle(h.erase),
		},
		{
			Method: http.MethodGet, Path: visitor, ID: "getSiteVisitorErasure", Tag: "insights",
			Doc:   "Read how far the erasure of a visitor is. It is done when the last bytes have left the events table's disks; it is forgotten after logUntil.",
			Scope: admin, Status: http.StatusOK, Handler: frame.Handle(h.erasure),
		},
	}
}

type visitorRequest struct {
	VisitorID string `path:"visitorId" rules:"len=1..256"`
}

func (h *siteErasures) erase(ctx context.Context, c *access.Caller, r *visitorRequest) (schema.VisitorErasure, error) {
	return h.erasures.Erase(ctx, c.EventSite.SiteID, r.VisitorID)
}

func (h *siteErasures) erasure(ctx context.Context, c *access.Caller, r *visitorRequest) (schema.VisitorErasure, error) {
	return h.erasures.Erasure(ctx, c.EventSite.SiteID, r.VisitorID)
}
