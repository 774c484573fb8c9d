package content

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/api/view"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/postgres"
)

// gitSync has the operations that import the content of a space from a repository, and that export it to a repository.
// These operations enqueue a job that does the work (api/jobs).
type gitSync struct {
	store *store.Store
}

func gitOperations(h *gitSync) []frame.Operation {
	return []frame.Operation{
		{
			Method: http.MethodPost, Path: "/spaces/{spaceId}/git/import", ID: "importGitRepository", Tag: "git",
			Doc: "Queue an import of a repository's branch into a space: a job, whose state listGitOperations " +
				"shows. Where merge rules bind the caller, the space is locked, or both sides changed the same, " +
				"it makes or " +
				"updates a change request instead of changing the space. A file that cannot be a page, or is not " +
				"UTF-8, " +
				"becomes a page that says so, whose text cannot be edited.",
			Scope: access.SynchronizingGit(), Status: http.StatusNoContent,
			BodyLimit: frame.ResourceBodyLimit, Accepts: frame.MediaJSON, Handler: frame.Handle(h.importRepository),
		},
		{
			Method: http.MethodPost, Path: "/spaces/{spaceId}/git/export", ID: "exportToGitRepository", Tag: "git",
			Doc: "Queue an export of a space's content to a repository's branch: a job, whose state " +
				"listGitOperations shows. It waits while " +
				"a change request with an import of the branch is open.",
			Scope: access.SynchronizingGit(), Status: http.StatusNoContent,
			BodyLimit: frame.ResourceBodyLimit, Accepts: frame.MediaJSON, Handler: frame.Handle(h.exportToRepository),
		},
		{
			Method: http.MethodGet, Path: "/spaces/{spaceId}/git/operations", ID: "listGitOperations", Tag: "git",
			Doc: "List a space's imports and exports with their states, reasons and progress, the last first: " +
				"which change " +
				"request an import made or updated, what an operation waits for, and when it is tried again. An " +
				"addition to " +
				"the published contract.",
			Scope: access.SynchronizingGit(), Status: http.StatusOK, Handler: frame.Handle(h.list),
		},
		{
			Method: http.MethodPost, Path: "/spaces/{spaceId}/git/operations/{operationId}/cancel",
			ID: "cancelGitOperation", Tag: "git",
			Doc: "Cancel an import or export that is not over: one that waits never runs, and one that runs ends " +
				"soon and " +
				"changes nothing more. An addition to the published contract.",
			Scope:  access.SynchronizingGit(),
			Status: http.StatusOK, Handler: frame.Handle(h.cancel),
		},
		{
			Method: http.MethodGet, Path: "/spaces/{spaceId}/git/info", ID: "getSpaceGitInfo", Tag: "git",
			Doc:   "Read which repository a space is kept in step with: as its imports and exports describe it.",
			Scope: access.Having(access.RightAccess, access.OnSpace).OrInstallation(schema.ScopeSpaceGitSync), Status: http.StatusOK, Handler: frame.Handle(h.info),
		},
		{
			Method: http.MethodDelete, Path: "/spaces/{spaceId}/git/legacy-installation", ID: "deleteLegacyGitInstallation", Tag: "git",
			Doc:   "Remove a space's legacy git installation. No space here ever has one, so it is always removed already.",
			Scope: access.Having(access.RightAdmin, access.OnSpace), Status: http.StatusNoContent, Handler: frame.Handle(h.deleteLegacy),
		},
	}
}

// GitRequest has the members that imports and exports share.
type GitRequest struct {
	URL                  *string `json:"url" rules:"required,len=..2048,pattern=repositoryURL"`
	Ref                  *string `json:"ref" rules:"required,len=..1024,pattern=gitRef"`
	RepoCacheID          *string `json:"repoCacheID" rules:"len=..1024"`
	RepoTreeURL          *string `json:"repoTreeURL" rules:"len=..2048,pattern=link"`
	RepoCommitURL        *string `json:"repoCommitURL" rules:"len=..2048,pattern=link"`
	RepoProjectDirectory *string `json:"repoProjectDirectory" rules:"len=..1024"`
	Timestamp            *string `json:"timestamp" rules:"pattern=dateTime"`
	Force                *bool   `json:"force" rules:"default=false"`
	GitInfo              *struct {
		Provider *string `json:"provider" rules:"enum=gitProvider"`
		URL      *string `json:"url" rules:"len=..2048,pattern=uri"`
	} `json:"gitInfo"`
}

func (h *gitSync) queue(ctx context.Context, c *access.Caller, kind string, r *GitRequest, p schema.GitParameters) (frame.NoContent, error) {
	p.RepoCacheID, p.RepoTreeURL, p.RepoCommitURL = r.RepoCacheID, r.RepoTreeURL, r.RepoCommitURL
	p.RepoProjectDirectory, p.Force = r.RepoProjectDirectory, r.Force
	n := store.NewGitOperation{
		OrganizationID: c.Space.Space.OrganizationID, SpaceID: c.Space.Space.ID, Kind: kind, URL: *r.URL, Ref: *r.Ref, Parameters: p,
		Timestamp: c.Now, UserID: c.Principal.UserID,
	}
	if r.Timestamp != nil {
		at, err := time.Parse(time.RFC3339Nano, *r.Timestamp)
		if err != nil {
			return frame.NoContent{}, schema.Internal(err) // the rules accept only valid times
		}
		n.Timestamp = at
	}
	if r.GitInfo != nil {
		n.Provider, n.RepoURL = r.GitInfo.Provider, r.GitInfo.URL
	}
	_, err := h.store.QueueGitOperation(ctx, n)
	return frame.NoContent{}, err
}

type importGitRequest struct {
	Body struct {
		GitRequest
		Standalone *bool `json:"standalone" rules:"default=false"`
	} `body:"json"`
}

func (h *gitSync) importRepository(ctx context.Context, c *access.Caller, r *importGitRequest) (frame.NoContent, error) {
	return h.queue(ctx, c, schema.GitImport, &r.Body.GitRequest, schema.GitParameters{Standalone: r.Body.Standalone})
}

type exportGitRequest struct {
	Body struct {
		GitRequest
		CommitMessage *string `json:"commitMessage" rules:"required,len=1..10000"`
	} `body:"json"`
}

func (h *gitSync) exportToRepository(ctx context.Context, c *access.Caller, r *exportGitRequest) (frame.NoContent, error) {
	return h.queue(ctx, c, schema.GitExport, &r.Body.GitRequest, schema.GitParameters{CommitMessage: r.Body.CommitMessage})
}

func (h *gitSync) list(ctx context.Context, c *access.Caller, r *schema.PageRequest) (schema.List[schema.GitOperation], error) {
	space := c.Space.Space.ID
	work, err := h.store.GitOperationAtWork(ctx, space)
	if err != nil {
		return schema.List[schema.GitOperation]{}, err
	}
	retries, err := h.store.GitRetries(ctx, space)
	if err != nil {
		return schema.List[schema.GitOperation]{}, err
	}
	return frame.ListMade(ctx, "git operations "+space, *r, 2,
		func(after []string, size int) (postgres.Page[store.GitOperation], error) {
			cursor, err := postgres.ParseCursor[time.Time](after)
			if err != nil {
				return postgres.Page[store.GitOperation]{}, err
			}
			return h.store.ListGitOperations(ctx, space, cursor, size)
		},
		func(o store.GitOperation) (schema.GitOperation, error) { return gitOperationResource(o, work, retries) },
		func(o store.GitOperation) []string {
			return postgres.Cursor[time.Time]{Key: o.Timestamp, ID: o.ID}.Keys()
		})
}

type gitOperationRequest struct {
	Operation string `path:"operationId"`
}

func (h *gitSync) cancel(ctx context.Context, c *access.Caller, r *gitOperationRequest) (schema.GitOperation, error) {
	o, err := h.store.CancelGitOperation(ctx, c.Space.Space.ID, r.Operation)
	if err != nil {
		return schema.GitOperation{}, err
	}
	return gitOperationResource(o, nil, nil)
}

func (h *gitSync) info(_ context.Context, c *access.Caller, _ *struct{}) (schema.GitSyncState, error) {
	state, err := view.GitSyncState(c.Space.Space)
	if err != nil {
		return schema.GitSyncState{}, err
	}
	if state == nil {
		return schema.GitSyncState{}, schema.NotFound("git provider of the space")
	}
	return *state, nil
}

func (h *gitSync) deleteLegacy(context.Context, *access.Caller, *struct{}) (frame.NoContent, error) {
	return frame.NoContent{}, nil
}

// gitOperationResource returns an operation in the form of the API. A queued operation waits for the operation that is
// running, if there is one.
func gitOperationResource(
	o store.GitOperation, work *store.GitOperation, retries map[string]time.Time,
) (schema.GitOperation, error) {
	parameters, err := schema.DecodeJSON[schema.GitParameters](o.Parameters)
	if err != nil {
		return schema.GitOperation{}, err
	}
	r := schema.GitOperation{
		Object: "git-operation", ID: o.ID, Kind: o.Kind, State: o.State, Reason: o.Reason, URL: o.Url, Ref: o.Ref,
		Timestamp: o.Timestamp.UTC(), CreatedAt: o.CreatedAt.UTC(), Commit: schema.Or(o.CommitHash, ""), Revision: schema.Or(o.Revision, ""),
		ChangeRequest: schema.Or(o.ChangeRequestID, ""), AllowedBy: schema.Or(o.AllowedBy, ""),
	}
	if o.State == schema.GitQueued && work != nil && work.ID != o.ID {
		r.WaitsFor = work.ID
		r.Reason = fmt.Sprintf("waits for the %s %s, which was asked for before", work.Kind, work.ID)
		if work.State == schema.GitRetrying {
			r.Reason += ", failed and is tried again"
		}
	}
	if at, planned := retries[o.ID]; planned && o.State == schema.GitRetrying {
		r.NextAttemptAt = schema.UTC(&at)
	}
	if o.Progress != nil {
		progress, err := schema.DecodeJSON[schema.GitProgress](o.Progress)
		if err != nil {
			return schema.GitOperation{}, err
		}
		r.Progress = &progress
	}
	if o.FinishedAt != nil {
		at := o.FinishedAt.UTC()
		r.FinishedAt = &at
	}
	if prefix := schema.Or(parameters.RepoCommitURL, ""); prefix != "" && r.Commit != "" {
		r.CommitURL = strings.TrimSuffix(prefix, "/") + "/" + r.Commit
	}
	if o.Notes != nil {
		r.Notes, err = schema.DecodeJSON[[]schema.GitNote](o.Notes)
	}
	return r, err
}
