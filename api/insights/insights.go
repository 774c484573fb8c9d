package insights

import (
	"context"
	"net/http"

	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/schema"
)

// EventIntake accepts the events of a request. It returns when either all of them are safe or none is. body is the decoded JSON
// text and belongs to the caller: implementations must copy what they keep.
type EventIntake interface {
	Accept(ctx context.Context, site schema.EventSite, body []byte, from schema.ClientInfo) error
}

// EventBalances reports what became of each site's events.
type EventBalances interface {
	Balance(ctx context.Context, siteID string) schema.EventBalance
}

// Insights answers queries about a site's events with ready-to-send JSON bodies, and headers that tell how the answer was
// computed. body is the query as JSON text and belongs to the caller.
type Insights interface {
	Aggregate(ctx context.Context, from schema.QueryOrigin, body []byte) (answer []byte, headers map[string]string, err error)
	VisitorSegments(ctx context.Context, from schema.QueryOrigin, page schema.PageRequest) (answer []byte, headers map[string]string, err error)
}

// EventBodyLimit bounds a batch of events, both as sent and after decompression.
const EventBodyLimit = 4 << 20

// queryBodyLimit bounds a query; one that names every column many times is far below it.
const queryBodyLimit = 256 << 10

// siteInsights has the operations on a site's events.
type siteInsights struct {
	intake   EventIntake
	insights Insights
	balances EventBalances
}

// Table returns the operations on a site's events.
func Table(intake EventIntake, answers Insights, balances EventBalances) frame.Table {
	return frame.Table{Operations: insightsOperations(&siteInsights{intake: intake, insights: answers, balances: balances})}
}

func insightsOperations(h *siteInsights) []frame.Operation {
	const base = "/orgs/{organizationId}/sites/{siteId}/insights"
	return []frame.Operation{
		{
			Method: http.MethodPost, Path: base + "/events", ID: "trackEventsInSiteById", Tag: "insights", Rate: access.RateEvents,
			Doc:   "Take in visitor events; an answer of 204 means that every one of them is stored durably.",
			Scope: access.Having(access.RightView, access.OnInsights).OrSiteKey(), Status: http.StatusNoContent,
			BodyLimit: EventBodyLimit, Accepts: frame.MediaJSON, Timeout: frame.Unbounded, CORS: true, Handler: frame.Handle(h.track),
		},
		{
			Method: http.MethodPost, Path: base + "/events/aggregate", ID: "aggregateSiteEvents", Tag: "insights",
			Doc:   "Aggregate a site's events.",
			Scope: access.Having(access.RightAccess, access.OnInsights), Status: http.StatusOK,
			BodyLimit: queryBodyLimit, Accepts: frame.MediaJSON, Timeout: frame.Unbounded, Handler: frame.Handle(h.aggregate),
		},
		{
			Method: http.MethodGet, Path: base + "/visitor-segments", ID: "listSiteVisitorSegments", Tag: "insights",
			Doc: "List the segments of a site's visitors in the last 30 days (fewer where they are too many to count: Octavo-Range says): " +
				"what claims they share. Claims that tell who a visitor is make no segments.",
			Scope: access.Having(access.RightAccess, access.OnInsights), Status: http.StatusOK, Timeout: frame.Unbounded, Handler: frame.Handle(h.segments),
		},
		{
			Method: http.MethodGet, Path: base + "/events/balance", ID: "getSiteEventsBalance", Tag: "insights",
			Doc:   "Count what became of a site's events on the answering node since it started: received, refused by reason, stored, dead-lettered, in flight; also requests that were refused unread for lack of room, and messages of all sites that the log has lost.",
			Scope: access.Having(access.RightAdmin, access.OnInsights), Status: http.StatusOK, Handler: frame.Handle(h.balance),
		},
	}
}

type trackEventsRequest struct {
	IdempotencyKey *string `header:"Idempotency-Key" rules:"len=1..255,pattern=ascii"`
	Body           []byte  `body:"raw"`
}

func (h *siteInsights) track(ctx context.Context, c *access.Caller, r *trackEventsRequest) (frame.NoContent, error) {
	return frame.NoContent{}, h.intake.Accept(ctx, c.EventSite, r.Body, schema.ClientInfo{
		IP: c.IP, Now: c.Now, IdempotencyKey: schema.Or(r.IdempotencyKey, ""),
		// Test for the allowed kind, not for "not a site key": future token kinds must be admitted deliberately.
		AnyPast: c.Principal.Kind == schema.TokenUser,
	})
}

func queryOrigin(c *access.Caller) schema.QueryOrigin {
	return schema.QueryOrigin{
		OrganizationID: c.EventSite.OrganizationID, SiteID: c.EventSite.SiteID, TokenID: c.Principal.TokenID, RequestID: c.RequestID(),
	}
}

type aggregateRequest struct {
	Body []byte `body:"raw"`
}

func (h *siteInsights) aggregate(ctx context.Context, c *access.Caller, r *aggregateRequest) (frame.Encoded, error) {
	answer, headers, err := h.insights.Aggregate(ctx, queryOrigin(c), r.Body)
	return frame.Encoded{Body: answer, Header: headers}, err
}

// segmentsRequest is a schema.PageRequest whose default limit is the length of the list before it had pages.
type segmentsRequest struct {
	Page  string `query:"page"`
	Limit *int   `query:"limit" rules:"range=0..1000,default=100"`
}

func (h *siteInsights) segments(ctx context.Context, c *access.Caller, r *segmentsRequest) (frame.Encoded, error) {
	answer, headers, err := h.insights.VisitorSegments(ctx, queryOrigin(c), schema.PageRequest{Page: r.Page, Limit: r.Limit})
	return frame.Encoded{Body: answer, Header: headers}, err
}

func (h *siteInsights) balance(ctx context.Context, c *access.Caller, _ *struct{}) (schema.EventBalance, error) {
	return h.balances.Balance(ctx, c.EventSite.SiteID), nil
}
