package main

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/octavo-docs/octavo/ingest/balance"
	"github.com/octavo-docs/octavo/ingest/eventlog"
	"github.com/octavo-docs/octavo/ingest/intake"
	"github.com/octavo-docs/octavo/ingest/sink"
	"github.com/octavo-docs/octavo/query"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/insights"
	"github.com/octavo-docs/octavo/store"
)

// The packages ingest and query do not import the package api, and api does not import them. These adapters translate
// between their types.

// comeBack is the Retry-After of a temporary refusal.
const comeBack = time.Second

type eventIntake struct{ intake *intake.Intake }

func (a eventIntake) Accept(ctx context.Context, site schema.EventSite, body []byte, from schema.ClientInfo) (unknown int, err error) {
	to, client := intake.Site{ID: site.SiteID, ClearIDs: site.StoreClearIDs}, intake.Client{
		IP: from.IP, Now: from.Now, IdempotencyKey: from.IdempotencyKey, AnyPast: from.AnyPast, MaxEvents: from.MaxEvents,
		Place: intake.Place(from.Place),
	}
	if from.KnownTypes {
		unknown, err = a.intake.AcceptKnown(ctx, to, body, client)
	} else {
		err = a.intake.Accept(ctx, to, body, client)
	}
	if err != nil {
		return 0, refusal(err)
	}
	return unknown, nil
}

// AcceptDoor accepts a browser's batch. A tracker only retries after 429 and 5xx. So a temporary refusal with another
// status gets the status 503.
func (a eventIntake) AcceptDoor(ctx context.Context, site schema.EventSite, body []byte, from schema.DoorInfo) error {
	err := a.intake.AcceptDoor(ctx, intake.Site{ID: site.SiteID, ClearIDs: site.StoreClearIDs}, body, intake.Door{
		IP: from.IP, UserAgent: from.UserAgent, Place: intake.Place(from.Place), Now: from.Now, Late: from.Late,
		Key: from.Key, Generation: from.Generation, Pixel: from.Pixel, Hosts: from.Hosts,
	})
	if err == nil {
		return nil
	}
	err = refusal(err)
	if e, ok := errors.AsType[*schema.Error](err); ok && e.RetryAfter > 0 && e.Code != http.StatusTooManyRequests {
		e.Code = http.StatusServiceUnavailable
	}
	return err
}

// refusal converts a refusal by the intake to an error of the API.
func refusal(err error) error {
	refused, ok := errors.AsType[*insights.Refusal](err)
	if !ok {
		return err
	}
	e := &schema.Error{Code: schema.Code(refused.Reason.Status), Message: refused.Message, Cause: refused.Cause}
	if refused.Field != "" {
		e.Details = []schema.Detail{{Field: refused.Field, Problem: refused.Problem}}
	}
	if refused.Reason.Retryable {
		e.RetryAfter = comeBack
	}
	return e
}

func (a eventIntake) OneAddress(siteID string) bool { return a.intake.OneAddress(siteID) }

func (a eventIntake) RefuseUnread(siteID string, reason *insights.Reason) {
	a.intake.RefuseUnread(siteID, reason)
}

// eventBalances computes the balance of a site's events from this process's counters, which started at `since`.
type eventBalances struct {
	sites *balance.Sites
	since time.Time
	roles []string
	log   *eventlog.Log
	group string // consumer group of the sinks
	// missing returns the rows that the insights store is known to lack.
	missing func() []schema.MissingRows
}

// lostWait is the longest time that Balance waits for the number of messages that the log has lost.
const lostWait = 2 * time.Second

func (b eventBalances) Balance(ctx context.Context, site string) schema.EventBalance {
	of := b.sites.Balance(site)
	ctx, cancel := context.WithTimeout(ctx, lostWait)
	defer cancel()
	var lost *int64
	if n, err := sink.Lost(ctx, b.log, b.group); err == nil {
		lost = &n
	}
	left := int64(of.Received) - int64(of.Repeated) - int64(of.Stored) - int64(of.DeadLettered) - int64(of.Erased)
	for _, n := range of.Refused {
		left -= int64(n)
	}
	byDay := []schema.RefusedDay{}
	for _, day := range b.sites.RefusedByDay(site) {
		byDay = append(byDay, schema.RefusedDay{
			Date: day.Date.Format(time.DateOnly), Events: day.Events, Requests: day.Requests,
		})
	}
	return schema.EventBalance{
		Object: "event-balance", Site: site, Since: b.since.UTC(), Received: of.Received, Accepted: of.Accepted, Repeated: of.Repeated,
		Refused: of.Refused, UnreadRequests: of.Unread, RefusedByDay: byDay,
		Stored: of.Stored, DeadLettered: of.DeadLettered, Erased: of.Erased,
		Earlier: uint64(max(0, -left)), InFlight: max(0, left),
		Scope: "node", Roles: b.roles, LostMessages: lost, MissingRows: schema.MissingTotal(b.missing()),
	}
}

type insightsQueries struct {
	service *query.Service
	sites   *queriedSites
}

func (a insightsQueries) Answer(ctx context.Context, from schema.QueryOrigin, of query.Report, body []byte) ([]byte, map[string]string, error) {
	return a.service.Answer(ctx, queryCaller(from), of, from.SiteID, body, time.Now())
}

func (a insightsQueries) Batch(
	ctx context.Context, from schema.QueryOrigin, body []byte,
) ([]byte, map[string]string, error) {
	return a.service.Batch(ctx, queryCaller(from), from.SiteID, body, time.Now())
}

func (a insightsQueries) Live(
	ctx context.Context, from schema.QueryOrigin, segments []string,
) ([]byte, map[string]string, error) {
	return a.service.Live(ctx, queryCaller(from), from.SiteID, segments, time.Now())
}

func (a insightsQueries) VisitorSegments(ctx context.Context, from schema.QueryOrigin, page schema.PageRequest) ([]byte, map[string]string, error) {
	return a.service.VisitorSegments(ctx, queryCaller(from), from.SiteID, page, time.Now())
}

// segmentOf returns a function that reads the conditions of a saved segment from the store.
func segmentOf(st *store.Store) func(ctx context.Context, site, user, id string) ([]byte, error) {
	return func(ctx context.Context, site, user, id string) ([]byte, error) {
		row, err := st.Sites.SavedSegment(ctx, site, user, id)
		return []byte(row.Filters), err
	}
}

// SettingsChanged drops the site's cached settings. The keys of cached answers contain the old settings, so no new
// query uses these answers.
func (a insightsQueries) SettingsChanged(siteID string) { a.sites.forget(siteID) }

func queryCaller(from schema.QueryOrigin) query.Caller {
	return query.Caller{
		Organization: from.OrganizationID, Token: from.TokenID, Request: from.RequestID, Fresh: from.Fresh,
		User: from.UserID, View: from.View,
	}
}
