package insights

import (
	"context"
	"net/http"

	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/schema"
)

// VisitorErasures erases the events of a site's visitor, or the events that were posted with a publishable key. The
// result is the same whether such events exist or not.
type VisitorErasures interface {
	Erase(ctx context.Context, siteID, visitorID string) (schema.VisitorErasure, error)
	Erasure(ctx context.Context, siteID, visitorID string) (schema.VisitorErasure, error)
	EraseKey(ctx context.Context, siteID, eventKey string) (schema.EventKeyErasure, error)
	KeyErasure(ctx context.Context, siteID, eventKey string) (schema.EventKeyErasure, error)
}

// siteErasures has the operations that delete events.
type siteErasures struct{ erasures VisitorErasures }

func erasureOperations(h *siteErasures) []frame.Operation {
	const (
		visitor = insightsBase + "/visitors/{visitorId}"
		key     = insightsBase + "/keys/{keyId}/generations/{generation}/events"
	)
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
		{
			Method: http.MethodDelete, Path: key, ID: "eraseSiteEventKey", Tag: "insights",
			Doc: "Erase all events of a generation of a publishable key that were received before the answer's " +
				"erasedUntil, as eraseSiteVisitor erases a visitor's: such as events that somebody invented. Other " +
				"events stay, also of the same visitors. The key may be deleted. A generation that still posts " +
				"brings new events: rotate the key with an overlap of 0 first. An addition to the published contract.",
			Scope: admin, Status: http.StatusAccepted, Handler: frame.Handle(h.eraseKey),
		},
		{
			Method: http.MethodGet, Path: key, ID: "getSiteEventKeyErasure", Tag: "insights",
			Doc: "Read how far the erasure of the events of a publishable key's generation is, as " +
				"getSiteVisitorErasure does. An addition to the published contract.",
			Scope: admin, Status: http.StatusOK, Handler: frame.Handle(h.keyErasure),
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

type eventKeyRequest struct {
	KeyID      string `path:"keyId" rules:"len=1..64"`
	Generation string `path:"generation" rules:"len=1..5,pattern=generation"`
}

// eventKey returns the key and its generation as the column eventKey of events contains them.
func (r *eventKeyRequest) eventKey() string { return r.KeyID + "." + r.Generation }

func (h *siteErasures) eraseKey(
	ctx context.Context, c *access.Caller, r *eventKeyRequest,
) (schema.EventKeyErasure, error) {
	return h.erasures.EraseKey(ctx, c.EventSite.SiteID, r.eventKey())
}

func (h *siteErasures) keyErasure(
	ctx context.Context, c *access.Caller, r *eventKeyRequest,
) (schema.EventKeyErasure, error) {
	return h.erasures.KeyErasure(ctx, c.EventSite.SiteID, r.eventKey())
}
