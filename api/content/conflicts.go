package content

import (
	"context"
	"net/http"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/api/view"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content/merge"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/orgs"
	"github.com/octavo-docs/octavo/store/postgres"
)

// conflicts has the operations on the conflicts between a change request and the main content.
type conflicts struct {
	store *store.Store
	view  view.Presenter
}

func conflictOperations(h *conflicts) []frame.Operation {
	const tag = "change-requests"
	return []frame.Operation{
		{
			Method: http.MethodGet, Path: changeRequestPath + "/conflicts", ID: "listChangeRequestConflicts", Tag: tag,
			Doc: "List the conflicts of a change request with the main content, each with its three versions: `base`, where both began, `ours`, the " +
				"change request, and `theirs`, the main content. Those that are resolved stay until an update or a merge carries them out.",
			Scope: access.Having(access.RightAccess, access.OnChangeRequest).OrInstallation(schema.ScopeSpaceContentRead), Status: http.StatusOK, Handler: frame.Handle(h.list),
		},
		{
			Method: http.MethodPost, Path: changeRequestPath + "/conflicts/{conflictId}", ID: "resolveChangeRequestConflict", Tag: tag,
			Doc: "Resolve a conflict of a change request: take `ours`, the change request's version, `theirs`, the main content's, or another " +
				"`value` of the same form. Once all are resolved, the request can be updated and merged. Reviews of before no longer count.",
			Scope: access.Having(access.RightEdit, access.OnChangeRequest).OrInstallation(schema.ScopeSpaceContentWrite), Status: http.StatusOK,
			BodyLimit: contentBodyLimit, Accepts: frame.MediaJSON, Handler: frame.Handle(h.resolve),
		},
	}
}

type listConflictsRequest struct {
	schema.PageRequest
	Status *string `query:"status" rules:"enum=conflictFilter,default=all"`
}

func (h *conflicts) list(
	ctx context.Context, c *access.Caller, r *listConflictsRequest,
) (schema.List[schema.ChangeRequestConflict], error) {
	status := schema.Or(r.Status, "all")
	var found *store.Conflicts
	var resolvers map[string]orgs.User
	return frame.ListMade(ctx, "conflicts "+c.ChangeRequest.ID+" "+status, r.PageRequest, 3,
		func(after []string, size int) (page postgres.Page[store.ConflictRow], err error) {
			if found == nil {
				if found, err = h.store.Conflicts(ctx, *c.ChangeRequest, c.Space.Space.Revision); err != nil {
					return page, err
				}
			}
			if page, err = found.Page(status, after, size); err != nil {
				return page, err
			}
			resolvers, err = h.resolvers(ctx, page.Rows...)
			return page, err
		},
		func(row store.ConflictRow) (schema.ChangeRequestConflict, error) {
			return h.view.Conflict(row, resolvers[row.ResolvedBy]), nil
		},
		store.ConflictRow.Keys)
}

func (h *conflicts) resolvers(ctx context.Context, rows ...store.ConflictRow) (map[string]orgs.User, error) {
	var ids []string
	for _, row := range rows {
		if row.ResolvedBy != "" {
			ids = append(ids, row.ResolvedBy)
		}
	}
	return h.store.Orgs.UsersByID(ctx, ids)
}

type resolveConflictRequest struct {
	ConflictID string `path:"conflictId"`
	Body       struct {
		Take  *string        `json:"take" rules:"required,enum=conflictTake"`
		Value jsontext.Value `json:"value"`
	} `body:"json"`
}

func (h *conflicts) resolve(
	ctx context.Context, c *access.Caller, r *resolveConflictRequest,
) (schema.ChangeRequestConflict, error) {
	choice := merge.Choice{Take: view.MergeTake(*r.Body.Take), Value: r.Body.Value}
	row, err := h.store.ResolveConflict(ctx, *c.ChangeRequest, r.ConflictID, choice, c.Principal.UserID)
	if err != nil {
		return schema.ChangeRequestConflict{}, err
	}
	resolvers, err := h.resolvers(ctx, row)
	if err != nil {
		return schema.ChangeRequestConflict{}, err
	}
	return h.view.Conflict(row, resolvers[row.ResolvedBy]), nil
}
