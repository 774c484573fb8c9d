package orgs

import (
	"context"
	"fmt"
	"net/http"

	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/postgres"
	"github.com/octavo-docs/octavo/store/queue"
)

// jobs has the operations on an organization's background jobs.
type jobs struct{ store *store.Store }

func jobOperations(h *jobs) []frame.Operation {
	return []frame.Operation{
		{
			Method: http.MethodGet, Path: "/orgs/{organizationId}/jobs", ID: "listJobs", Tag: "jobs",
			Doc:   "List the background jobs of an organization, the newest first. Jobs that are done are kept for a day, failed ones for 30 days.",
			Scope: access.Having(access.RightAdmin, access.OnOrganization), Status: http.StatusOK, Handler: frame.Handle(h.list),
		},
		{
			Method: http.MethodPost, Path: "/orgs/{organizationId}/jobs/{jobId}/retry", ID: "retryJob", Tag: "jobs",
			Doc:   "Let a failed job run again, or one that waits for its next attempt run now.",
			Scope: access.Having(access.RightAdmin, access.OnOrganization), Status: http.StatusOK, Handler: frame.Handle(h.retry),
		},
	}
}

type listJobsRequest struct {
	schema.PageRequest
	State *string `query:"state" rules:"enum=jobState"`
	Kind  *string `query:"kind" rules:"enum=jobKind"`
	Space *string `query:"space"`
}

func (h *jobs) list(ctx context.Context, c *access.Caller, r *listJobsRequest) (schema.List[schema.Job], error) {
	organization := c.Organization.Organization.ID
	name := fmt.Sprintf("jobs %s %q %q %q", organization, schema.Or(r.State, ""), schema.Or(r.Kind, ""), schema.Or(r.Space, ""))
	filter := queue.Filter{State: r.State, Kind: r.Kind, Space: r.Space}
	return frame.ListPage(ctx, name, r.PageRequest,
		func(after string, size int) (postgres.Page[schema.Job], error) {
			return h.store.Queue.List(ctx, organization, filter, after, size)
		},
		func(job schema.Job) schema.Job { return job }, func(job schema.Job) string { return job.ID })
}

type jobRequest struct {
	ID string `path:"jobId"`
}

func (h *jobs) retry(ctx context.Context, c *access.Caller, r *jobRequest) (schema.Job, error) {
	return h.store.Queue.Retry(ctx, c.Organization.Organization.ID, r.ID)
}
