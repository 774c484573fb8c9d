package insights

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/api/frame/rules"
	"github.com/octavo-docs/octavo/api/remote/outbound"
	"github.com/octavo-docs/octavo/api/view"
	"github.com/octavo-docs/octavo/query"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/insights"
	"github.com/octavo-docs/octavo/store"
)

// EventIntake takes in the events of a request. It stores all events of the request or none. `from` may allow it to
// refuse only the events of unknown types. `body` is the decompressed JSON text and belongs to the caller.
// Implementations must copy the bytes that they store.
type EventIntake interface {
	Accept(ctx context.Context, site schema.EventSite, body []byte, from schema.ClientInfo) (unknown int, err error)
	// AcceptDoor is like Accept, for a batch that a browser posts with a publishable key.
	AcceptDoor(ctx context.Context, site schema.EventSite, body []byte, from schema.DoorInfo) error
	// RefuseUnread counts a request for a site's events that is refused before its body is read.
	RefuseUnread(siteID string, reason *insights.Reason)
	// OneAddress reports whether nearly all recent browsers of a site had the same address, as seen by this node.
	OneAddress(siteID string) bool
}

// EventBalances reports how many events of a site were stored, refused or lost.
type EventBalances interface {
	Balance(ctx context.Context, siteID string) schema.EventBalance
}

// Insights answers queries about a site's events. `answer` is the JSON body of the response. `headers` are the
// response's headers about how the answer was computed. `body` is the query as JSON text and belongs to the caller.
type Insights interface {
	Answer(ctx context.Context, from schema.QueryOrigin, of query.Report, body []byte) (answer []byte, headers map[string]string, err error)
	Batch(
		ctx context.Context, from schema.QueryOrigin, body []byte,
	) (answer []byte, headers map[string]string, err error)
	// Live answers only for the events in the saved segments with these ids.
	Live(
		ctx context.Context, from schema.QueryOrigin, segments []string,
	) (answer []byte, headers map[string]string, err error)
	VisitorSegments(ctx context.Context, from schema.QueryOrigin, page schema.PageRequest) (answer []byte, headers map[string]string, err error)
	// SettingsChanged makes the next query on this node read the site's settings from the store again.
	SettingsChanged(siteID string)
}

// EventBodyLimit is the largest size of a batch of events in bytes, both compressed and decompressed.
const EventBodyLimit = 4 << 20

// queryBodyLimit is the largest size of a query's body in bytes. Even a query that names every column many times is
// much smaller.
const queryBodyLimit = 256 << 10

// siteInsights has the operations on a site's events.
type siteInsights struct {
	intake   EventIntake
	insights Insights
	balances EventBalances
}

// Table returns the operations on a site's events. `files` are the tracker's files. `policy` decides from which hosts
// the installation check may load pages.
func Table(
	intake EventIntake, answers Insights, balances EventBalances, erasures VisitorErasures, metrics DoorMetrics,
	st *store.Store, urls schema.URLs, files []frame.Static, policy outbound.Policy,
) frame.Table {
	guard := outbound.New(outbound.Config{Policy: policy})
	return frame.Table{Operations: slices.Concat(
		insightsOperations(&siteInsights{intake: intake, insights: answers, balances: balances}),
		erasureOperations(&siteErasures{erasures: erasures}),
		settingsOperations(&siteSettings{store: st, insights: answers}),
		annotationOperations(&annotations{store: st, view: view.Presenter{URLs: urls}}),
		accessOperations(&insightsAccess{store: st}),
		segmentOperations(&savedSegments{store: st, urls: urls}),
		tokenOperations(&insightsTokens{store: st, urls: urls}),
		shareLinkOperations(newShareLinks(st, urls)),
		keyOperations(&publishableKeys{store: st, secret: access.NewKeySecret(st), urls: urls}),
		doorOperations(&door{intake: intake, metrics: metrics}),
		installationOperations(newInstallations(st, intake, urls, files, guard)),
	), Vocabularies: []rules.Vocabulary{vocabulary, {Enums: schema.InstallationEnums()}}}
}

const insightsBase = "/orgs/{organizationId}/sites/{siteId}/insights"

// locationOf returns the address of an object of a site's insights.
func locationOf(urls schema.URLs, c *access.Caller, kind, id string) schema.LocationURLs {
	site := c.EventSite
	return schema.LocationURLs{
		Location: urls.API("orgs", site.OrganizationID, "sites", site.SiteID, "insights", kind, id),
	}
}

func insightsOperations(h *siteInsights) []frame.Operation {
	const base = insightsBase
	return []frame.Operation{
		{
			Method: http.MethodPost, Path: base + "/events", ID: "trackEventsInSiteById", Tag: "insights", Rate: access.RateEvents,
			Doc:   "Take in visitor events; an answer of 204 means that every one of them is stored durably.",
			Scope: access.Having(access.RightView, access.OnInsights).OrSiteKey().OrFrontEnd().OrNobody(), Status: http.StatusNoContent,
			BodyLimit: EventBodyLimit, Accepts: frame.MediaJSON, Timeout: frame.Unbounded, CORS: true, Handler: frame.Handle(h.track),
		},
		reportOperation[aggregateRequest](h, query.Aggregate, "aggregateSiteEvents",
			"Aggregate a site's events. Dimensions of select are grouped by, whether groupBy names them or not."),
		reportOperation[funnelRequest](h, query.Funnel, "getSiteEventsFunnel",
			"Count the visitors or sessions that went through steps one after the other. A step is reached by "+
				"events that match it and all before it, each later than the one before (see strictIncrease), "+
				"the last within the window of the first. An addition to the published contract."),
		reportOperation[retentionRequest](h, query.Retention, "getSiteEventsRetention",
			"Count, for each interval of the range, the visitors whose first event was in it, and how many of them were back in it and in each interval after it. "+
				"An addition to the published contract."),
		reportOperation[transitionsRequest](h, query.Transitions, "getSiteEventsTransitions",
			"Count the pages that readers of a page viewed immediately before and after it, in the same session, "+
				"and the views with which sessions began and ended. Page views of one moment are in the order in "+
				"which they were sent. A view that follows a view of the same page is a reload. "+
				"Only views in the range that meet where count, so a session may begin and end where the range does. "+
				"An addition to the published contract."),
		pagesOperation(h),
		{
			Method: http.MethodPost, Path: base + "/batch", ID: "querySiteInsights", Tag: "insights",
			Doc: "Answer up to 24 named queries at once, as a dashboard needs them. All presets end at the " +
				"answer's now. Each query has its own status, with the answer or the error that it has alone; " +
				"equal queries run once. The batch takes one turn, waits for the rows of all its queries together, " +
				"and has the time of one query. Octavo-Fresh-Until is the earliest of all answers. " +
				"An addition to the published contract.",
			Scope: queryScope(), Status: http.StatusOK, BodyLimit: queryBodyLimit, Accepts: frame.MediaJSON,
			Timeout: frame.Unbounded, Watched: true, Handler: frame.Handle(h.batch),
		},
		{
			Method: http.MethodGet, Path: base + "/live", ID: "getSiteLiveInsights", Tag: "insights",
			Doc: fmt.Sprintf("Read what happens now: the visitors of the last %d minutes, the last %d minutes one by "+
				"one, and their top pages, paths, sources and countries. All callers of a site share an answer for "+
				"two seconds. "+
				"Each member is an answer like those of …/events/aggregate. An addition to the published contract.",
				query.ActiveMinutes, query.LiveMinutes),
			Scope: queryScope(), Status: http.StatusOK, Timeout: frame.Unbounded, Watched: true,
			Handler: frame.Handle(h.live),
		},
		{
			Method: http.MethodGet, Path: base + "/visitor-segments", ID: "listSiteVisitorSegments", Tag: "insights",
			Doc: "List the segments of a site's visitors in the last 30 days (fewer where they are too many to count: Octavo-Range says): " +
				"what claims they share. Claims that tell who a visitor is make no segments.",
			Scope: queryScope(), Status: http.StatusOK, Timeout: frame.Unbounded, Watched: true, Conditional: true,
			Handler: frame.Handle(h.segments),
		},
		{
			Method: http.MethodGet, Path: base + "/events/balance", ID: "getSiteEventsBalance", Tag: "insights",
			Doc: "Count what became of a site's events on the answering node since it started: received, refused " +
				"by reason, stored, dead-lettered, in flight, and erased before they were stored; also requests " +
				"that were refused unread, for lack of room or by the rules of a publishable key, refusals of the " +
				"last 30 days (UTC), and messages of all sites that the log has lost.",
			Scope: access.Having(access.RightAdmin, access.OnInsights), Status: http.StatusOK, Handler: frame.Handle(h.balance),
		},
	}
}

// queryScope returns the scope of operations that query a site's events.
func queryScope() access.Scope {
	return readScope().OrInsightsLinks()
}

// readScope returns the scope of operations that read all of a site's insights. It does not admit share links, which
// show only a part of the insights.
func readScope() access.Scope {
	return access.Having(access.RightAccess, access.OnInsights).OrInstallation(schema.ScopeSiteViewsRead).
		OrInsightsTokens()
}

// queryRequest has the common members of requests that query events.
type queryRequest struct {
	// CacheControl with no-cache means that the answer must be computed again.
	CacheControl []string `header:"Cache-Control"`
}

func (r queryRequest) fresh() bool {
	return slices.ContainsFunc(r.CacheControl, func(directive string) bool {
		return slices.Contains([]string{"no-cache", "no-store", "max-age=0"}, strings.ToLower(strings.TrimSpace(directive)))
	})
}

func queryOrigin(c *access.Caller, r queryRequest) schema.QueryOrigin {
	return schema.QueryOrigin{
		Fresh:          r.fresh(),
		OrganizationID: c.EventSite.OrganizationID, SiteID: c.EventSite.SiteID, TokenID: c.Principal.TokenID, RequestID: c.RequestID(),
		UserID: c.Principal.UserID, View: c.View,
	}
}

// reportRequest is the request for a report. Each kind of report has its own request type, which describes the body.
type reportRequest struct {
	queryRequest
	Body []byte `body:"raw"`
}

type (
	aggregateRequest   reportRequest
	funnelRequest      reportRequest
	retentionRequest   reportRequest
	transitionsRequest reportRequest
	pagesRequest       reportRequest
)

// reportOperation returns the operation for one kind of report.
func reportOperation[R aggregateRequest | funnelRequest | retentionRequest | transitionsRequest | pagesRequest](
	h *siteInsights, of query.Report, id, doc string,
) frame.Operation {
	return frame.Operation{
		Method: http.MethodPost, Path: insightsBase + "/events/" + string(of), ID: id, Tag: "insights", Doc: doc,
		Scope: queryScope(), Status: http.StatusOK,
		BodyLimit: queryBodyLimit, Accepts: frame.MediaJSON, Timeout: frame.Unbounded, Watched: true,
		Handler: frame.Handle(func(ctx context.Context, c *access.Caller, asked *R) (frame.Encoded, error) {
			r := reportRequest(*asked)
			answer, headers, err := h.insights.Answer(ctx, queryOrigin(c, r.queryRequest), of, r.Body)
			return frame.Encoded{Body: answer, Header: headers}, err
		}),
	}
}

// batchRequest requests the answers of several queries.
type batchRequest reportRequest

func (h *siteInsights) batch(ctx context.Context, c *access.Caller, r *batchRequest) (frame.Encoded, error) {
	answer, headers, err := h.insights.Batch(ctx, queryOrigin(c, r.queryRequest), r.Body)
	return frame.Encoded{Body: answer, Header: headers}, err
}

// liveRequest is the request for a site's live figures.
type liveRequest struct {
	queryRequest
	// Segments are ids of saved segments.
	Segments []string `query:"segments" rules:"len=..10"`
}

func (h *siteInsights) live(ctx context.Context, c *access.Caller, r *liveRequest) (frame.Encoded, error) {
	answer, headers, err := h.insights.Live(ctx, queryOrigin(c, r.queryRequest), r.Segments)
	return frame.Encoded{Body: answer, Header: headers}, err
}

// segmentsRequest has the members of schema.PageRequest, but the default limit is 100. Before the list had pages, it
// had up to 100 entries.
type segmentsRequest struct {
	queryRequest
	Page  string `query:"page"`
	Limit *int   `query:"limit" rules:"range=0..1000,default=100"`
}

func (h *siteInsights) segments(ctx context.Context, c *access.Caller, r *segmentsRequest) (frame.Encoded, error) {
	answer, headers, err := h.insights.VisitorSegments(
		ctx, queryOrigin(c, r.queryRequest), schema.PageRequest{Page: r.Page, Limit: r.Limit},
	)
	return frame.Encoded{Body: answer, Header: headers}, err
}

func (h *siteInsights) balance(ctx context.Context, c *access.Caller, _ *struct{}) (schema.EventBalance, error) {
	return h.balances.Balance(ctx, c.EventSite.SiteID), nil
}
