package content

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/api/frame/rules"
	"github.com/octavo-docs/octavo/api/view"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/orgs"
	"github.com/octavo-docs/octavo/store/postgres"
)

// changeRequests has the operations on change requests. The operations on the content of change requests are in
// pages.go and changes.go.
type changeRequests struct {
	store *store.Store
	view  view.Presenter
}

// changeRequestPath is the path of one change request.
const changeRequestPath = "/spaces/{spaceId}/change-requests/{changeRequestId}"

func changeRequestOperations(h *changeRequests) []frame.Operation {
	const tag = "change-requests"
	return []frame.Operation{
		{
			Method: http.MethodGet, Path: "/spaces/{spaceId}/change-requests", ID: "listChangeRequestsForSpace", Tag: tag,
			Doc:   "List the change requests of a space.",
			Scope: access.Having(access.RightAccess, access.OnSpace).OrInstallation(schema.ScopeSpaceContentRead), Status: http.StatusOK, Handler: frame.Handle(h.listInSpace),
		},
		{
			Method: http.MethodPost, Path: "/spaces/{spaceId}/change-requests", ID: "createChangeRequest", Tag: tag,
			Doc:   "Create a change request, a draft, on the current content of a space.",
			Scope: access.Having(access.RightEdit, access.OnSpace).OrInstallation(schema.ScopeSpaceContentWrite), Status: http.StatusCreated,
			BodyLimit: frame.ResourceBodyLimit, Accepts: frame.MediaJSON, Handler: frame.Handle(h.create),
		},
		{
			Method: http.MethodGet, Path: changeRequestPath, ID: "getChangeRequestById", Tag: tag,
			Doc:   "Read a change request by its id or its number.",
			Scope: access.Having(access.RightAccess, access.OnChangeRequest).OrReaders().OrInstallation(schema.ScopeSpaceContentRead), Status: http.StatusOK, Handler: frame.Handle(h.get),
		},
		{
			Method: http.MethodPatch, Path: changeRequestPath, ID: "updateChangeRequestById", Tag: tag,
			Doc: "Change a change request's subject, description or status.",
			Scope: access.Having(access.RightEdit, access.OnChangeRequest).
				OrInstallation(schema.ScopeSpaceContentWrite, "subject", "description", "status"),
			Status:    http.StatusOK,
			BodyLimit: frame.ResourceBodyLimit, Accepts: frame.MediaJSON, Handler: frame.Handle(h.patch),
		},
		{
			Method: http.MethodPost, Path: changeRequestPath + "/merge", ID: "mergeChangeRequest", Tag: tag,
			Doc: "Make the content of a change request that of its space; with open conflicts nothing changes " +
				"and the answer says so. If `revision`, an addition to the published contract, is not the " +
				"current one any more, the answer is 409.",
			Scope: access.Having(access.RightMerge, access.OnChangeRequest).OrInstallation(schema.ScopeSpaceContentWrite), Status: http.StatusOK, Handler: frame.Handle(h.merge),
		},
		{
			Method: http.MethodPost, Path: changeRequestPath + "/update", ID: "updateChangeRequest", Tag: tag,
			Doc:   "Take the current content of the space into a change request; with open conflicts nothing changes and the answer says so.",
			Scope: access.Having(access.RightEdit, access.OnChangeRequest).OrInstallation(schema.ScopeSpaceContentWrite), Status: http.StatusOK, Handler: frame.Handle(h.update),
		},
		{
			Method: http.MethodGet, Path: "/orgs/{organizationId}/change-requests", ID: "listChangeRequestsForOrganization", Tag: tag,
			Doc:   "List the change requests of the spaces of an organization that the caller may see.",
			Scope: access.Having(access.RightView, access.OnOrganization), Status: http.StatusOK, Handler: frame.Handle(h.listInOrganization),
		},
	}
}

// These are the sort orders for lists of change requests. The latest change request comes first.
const (
	orderByUpdate   = "updatedAt"
	orderByCreation = "createdAt"
)

// listChangeRequestsRequest accepts one or several statuses, because some versions of the contract have a single status
// and others have a list.
type listChangeRequestsRequest struct {
	schema.PageRequest
	Statuses    []string `query:"status" each:"enum=changeRequestStatus"`
	Creator     *string  `query:"creator"`
	Contributor *string  `query:"contributor"`
	Reviewer    *string  `query:"requestedReviewer"`
	Cluster     *string  `query:"conversationsIssuesCluster"`
	OrderBy     *string  `query:"orderBy" rules:"enum=changeRequestOrder,default=updatedAt"`
}

func (r *listChangeRequestsRequest) filter() store.ChangeRequestFilter {
	filter := store.ChangeRequestFilter{
		Statuses: r.Statuses, Creator: r.Creator, Contributor: r.Contributor, Reviewer: r.Reviewer, Cluster: r.Cluster,
		ByCreation: schema.Or(r.OrderBy, orderByUpdate) == orderByCreation,
	}
	if filter.Statuses == nil {
		filter.Statuses = []string{schema.ChangeRequestOpen}
	}
	return filter
}

func (h *changeRequests) listInSpace(
	ctx context.Context, c *access.Caller, r *listChangeRequestsRequest,
) (schema.List[schema.ChangeRequest], error) {
	filter := r.filter()
	return h.list(ctx, "space "+c.Space.Space.ID, r, filter,
		func(after *postgres.Cursor[time.Time], size int) (postgres.Page[store.ChangeRequestRow], error) {
			return h.store.ListChangeRequestsInSpace(ctx, c.Space.Space.ID, filter, after, size)
		})
}

func (h *changeRequests) listInOrganization(
	ctx context.Context, c *access.Caller, r *listChangeRequestsRequest,
) (schema.List[schema.ChangeRequest], error) {
	filter, organization := r.filter(), c.Organization.Organization.ID
	return h.list(ctx, "organization "+organization, r, filter,
		func(after *postgres.Cursor[time.Time], size int) (postgres.Page[store.ChangeRequestRow], error) {
			return h.store.ListChangeRequestsInOrganization(ctx, c.Viewer(), organization, filter, after, size)
		})
}

// list returns one page of a list of change requests. `of` identifies the list in page tokens.
func (h *changeRequests) list(
	ctx context.Context, of string, r *listChangeRequestsRequest, filter store.ChangeRequestFilter,
	read func(after *postgres.Cursor[time.Time], size int) (postgres.Page[store.ChangeRequestRow], error),
) (schema.List[schema.ChangeRequest], error) {
	name := fmt.Sprintf("change requests %s %q %q %q %q %q %t", of, filter.Statuses, schema.Or(r.Creator, ""), schema.Or(r.Contributor, ""),
		schema.Or(r.Reviewer, ""), schema.Or(r.Cluster, ""), filter.ByCreation)
	var authors map[string]orgs.User
	return frame.ListMade(ctx, name, r.PageRequest, 2,
		func(after []string, size int) (postgres.Page[store.ChangeRequestRow], error) {
			position, err := postgres.ParseCursor[time.Time](after)
			if err != nil {
				return postgres.Page[store.ChangeRequestRow]{}, err
			}
			page, err := read(position, size)
			if err != nil {
				return page, err
			}
			authors, err = h.authors(ctx, page.Rows...)
			return page, err
		},
		func(row store.ChangeRequestRow) (schema.ChangeRequest, error) {
			return h.view.ChangeRequest(row, authors[row.ChangeRequest.CreatedBy])
		},
		func(row store.ChangeRequestRow) []string {
			return filter.Cursor(row).Keys()
		})
}

// authors loads the users who created the change requests.
func (h *changeRequests) authors(ctx context.Context, rows ...store.ChangeRequestRow) (map[string]orgs.User, error) {
	ids := make([]string, len(rows))
	for i, row := range rows {
		ids[i] = row.ChangeRequest.CreatedBy
	}
	return h.store.Orgs.UsersByID(ctx, ids)
}

// resource returns a change request in the form of the API.
func (h *changeRequests) resource(ctx context.Context, row store.ChangeRequestRow) (schema.ChangeRequest, error) {
	authors, err := h.authors(ctx, row)
	if err != nil {
		return schema.ChangeRequest{}, err
	}
	return h.view.ChangeRequest(row, authors[row.ChangeRequest.CreatedBy])
}

type createChangeRequestRequest struct {
	Body struct {
		Subject  *string `json:"subject" rules:"len=..100"`
		Template *struct {
			ID     *string `json:"id" rules:"required"`
			Params *struct {
				ContentRefs map[string]schema.Data `json:"contentRefs"`
			} `json:"params"`
		} `json:"template"`
		// AgentTaskID is accepted but not stored, because no part of Octavo uses agent tasks yet.
		AgentTaskID *string `json:"agentTaskId"`
		// Cluster is the id of a cluster of issues. The new change request is made for these issues. A muted cluster is
		// refused.
		Cluster *string `json:"conversationsIssuesCluster"`
	} `body:"json,optional"`
}

// Validate refuses parameters. Templates have no parameters in Octavo, so references in parameters would be lost
// without an error.
func (r *createChangeRequestRequest) Validate() []schema.Detail {
	var c rules.Checker
	if t := r.Body.Template; t != nil && t.Params != nil && len(t.Params.ContentRefs) > 0 {
		c.Add("template.params.contentRefs", "must be empty: templates have no parameters")
	}
	return c.Details
}

func (h *changeRequests) create(ctx context.Context, c *access.Caller, r *createChangeRequestRequest) (schema.ChangeRequest, error) {
	request := store.NewChangeRequest{SpaceID: c.Space.Space.ID, Subject: schema.Or(r.Body.Subject, ""), UserID: c.Principal.UserID, ClusterID: r.Body.Cluster}
	if r.Body.Template != nil {
		if err := h.begin(ctx, &request, *r.Body.Template.ID); err != nil {
			return schema.ChangeRequest{}, err
		}
	}
	row, err := h.store.CreateChangeRequest(ctx, request)
	if err != nil {
		return schema.ChangeRequest{}, err
	}
	return h.resource(ctx, store.ChangeRequestRow{ChangeRequest: row, Head: row.RevisionInitial})
}

// begin fills a new change request from a template. If the request has a subject, it is used instead of the template's
// title.
func (h *changeRequests) begin(ctx context.Context, request *store.NewChangeRequest, templateID string) error {
	template, err := h.store.RequestTemplate(ctx, request.SpaceID, templateID)
	if schema.IsCode(err, schema.CodeNotFound) {
		return schema.Invalid("template.id", "names no template")
	}
	if err != nil {
		return err
	}
	if request.Subject == "" {
		request.Subject = template.Title
	}
	request.Description = template.Description
	pages, err := store.PagesOf(template)
	if err != nil {
		return err
	}
	request.Content, err = pages.Content(request.UserID)
	return err
}

func (h *changeRequests) get(ctx context.Context, c *access.Caller, _ *struct{}) (schema.ChangeRequest, error) {
	return h.resource(ctx, store.ChangeRequestRow{ChangeRequest: *c.ChangeRequest, Head: c.Space.Space.Revision})
}

type patchChangeRequestRequest struct {
	Body struct {
		Subject     *string                  `json:"subject" rules:"len=..100"`
		Description schema.Opt[richDocument] `json:"description"`
		Status      *string                  `json:"status" rules:"enum=settableChangeRequestStatus"`
	} `body:"json"`
}

func (h *changeRequests) patch(ctx context.Context, c *access.Caller, r *patchChangeRequestRequest) (schema.ChangeRequest, error) {
	edit := store.ChangeRequestEdit{Subject: r.Body.Subject, Status: r.Body.Status}
	if r.Body.Description.Set {
		edit.Description.Set = true
		if document := r.Body.Description.Value; document != nil {
			stored, err := schema.EncodeJSON(document.Document)
			if err != nil {
				return schema.ChangeRequest{}, err
			}
			edit.Description.Value = &stored
		}
	}
	row, err := h.store.EditChangeRequest(ctx, *c.ChangeRequest, edit)
	if err != nil {
		return schema.ChangeRequest{}, err
	}
	return h.resource(ctx, row)
}

type mergeRequest struct {
	Revision *string `query:"revision" rules:"len=1..64"`
}

func (h *changeRequests) merge(ctx context.Context, c *access.Caller, r *mergeRequest) (schema.MergeResult, error) {
	judge := func(facts store.MergeFacts, locked bool) error {
		if err := store.StillAt(facts.ChangeRequest, r.Revision); err != nil {
			return err
		}
		return checkMergeRules(ctx, c.Principal.UserID, facts, locked)
	}
	result, err := h.store.MergeChangeRequest(ctx, *c.ChangeRequest, c.Principal.UserID, judge)
	return mergeResult(result, schema.ResultMerge), err
}

func (h *changeRequests) update(ctx context.Context, c *access.Caller, _ *struct{}) (schema.MergeResult, error) {
	result, err := h.store.UpdateChangeRequest(ctx, *c.ChangeRequest, c.Principal.UserID)
	return mergeResult(result, schema.ResultUpdate), err
}

func mergeResult(result store.MergeResult, success string) schema.MergeResult {
	if result.Conflicts {
		success = schema.ResultConflicts
	}
	return schema.MergeResult{Revision: result.Revision, Result: success}
}
