package content

import (
	"context"
	"net/http"

	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
)

// comparisonOperations returns the operations that list the changes of revisions and of change requests.
func comparisonOperations(h *pages) []frame.Operation {
	return []frame.Operation{
		{
			Method: http.MethodGet, Path: "/spaces/{spaceId}/revisions/{revisionId}/changes", ID: "getRevisionSemanticChanges", Tag: "content",
			Doc: "List the pages and files that a revision has changed of its first parent. A site's readers get " +
				"what is there now: nothing deleted, and no `before`.",
			Scope: access.Having(access.RightAccess, access.OnSpace).OrReaders().OrInstallation(schema.ScopeSpaceContentRead), Status: http.StatusOK, Handler: frame.Handle(h.changesOfRevision),
		},
		{
			Method: http.MethodGet, Path: changeRequestPath + "/changes", ID: "getChangeRequestChanges", Tag: "content",
			Doc: "List the pages and files that a change request has changed of the main content. A site's " +
				"readers get what is there now: nothing deleted, and no `before`.",
			Scope: access.Having(access.RightAccess, access.OnChangeRequest).OrReaders().OrInstallation(schema.ScopeSpaceContentRead), Status: http.StatusOK, Handler: frame.Handle(h.changesOfRequest),
		},
	}
}

// defaultChanges is the default limit in the contract. Other lists have a higher default limit.
const defaultChanges = 10

type changesRequest struct {
	Limit *int `query:"limit" rules:"range=0..1000,default=10"`
}

type changesOfRevisionRequest struct {
	revisionRequest
	changesRequest
	RevisionID string `path:"revisionId"`
}

func (h *pages) changesOfRevision(ctx context.Context, c *access.Caller, r *changesOfRevisionRequest) (schema.RevisionChanges, error) {
	row, err := h.store.Revision(ctx, c.Space.Space.ID, r.RevisionID)
	if err != nil {
		return schema.RevisionChanges{}, err
	}
	list, more, err := h.store.RevisionChanges(ctx, row, allows(c), schema.Or(r.Limit, defaultChanges))
	if err != nil {
		return schema.RevisionChanges{}, err
	}
	changes, err := h.changes(ctx, c, list, more)
	if err == nil {
		changes.MergedFrom, err = h.mergedFrom(ctx, c, row)
	}
	return changes, err
}

func (h *pages) changesOfRequest(ctx context.Context, c *access.Caller, r *changesRequest) (schema.RevisionChanges, error) {
	list, more, err := h.store.RequestChanges(ctx, *c.ChangeRequest, allows(c), schema.Or(r.Limit, defaultChanges))
	if err != nil {
		return schema.RevisionChanges{}, err
	}
	return h.changes(ctx, c, list, more)
}

func (h *pages) changes(ctx context.Context, c *access.Caller, list []store.Change, more int) (schema.RevisionChanges, error) {
	changes := schema.RevisionChanges{Changes: make([]schema.RevisionChange, len(list)), More: more}
	for i, change := range list {
		if change.Type != schema.FileCreated && change.Type != schema.FileDeleted {
			changes.Changes[i] = h.view.PageChange(change)
			if c.Reader != nil {
				changes.Changes[i] = changes.Changes[i].WithoutFormer()
			}
			continue
		}
		file := change.File
		address, err := h.exports.fileURL(ctx, c, change.Revision, file.ID)
		if err != nil {
			return schema.RevisionChanges{}, err
		}
		changes.Changes[i] = schema.RevisionChange{Type: change.Type, File: &schema.ChangedFile{
			ID: file.ID, Name: file.Name, ContentType: file.ContentType, DownloadURL: address,
		}}
	}
	return changes, nil
}
