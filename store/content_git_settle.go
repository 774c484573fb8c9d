package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/postgres"
)

// confirmGit makes the proposed synchronization of a merged change request the last synchronization. `head` is the
// revision of the merge.
func confirmGit(ctx context.Context, q *db.Queries, space Space, row ChangeRequest, head Revision) error {
	if !row.GitImport {
		return nil
	}
	proposed, err := q.GitSyncOfRequest(ctx, &row.ID)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return postgres.Interpret(err, "git synchronization")
	}
	known, err := q.GitSync(ctx, db.GitSyncParams{SpaceID: space.ID, Remote: proposed.Remote})
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return postgres.Interpret(err, "git synchronization")
	}
	if err == nil {
		if err := replaceGitSync(ctx, q, known.ID, proposed.ID, head); err != nil {
			return err
		}
	}
	if err := q.ConfirmGitSync(ctx, proposed.ID); err != nil {
		return postgres.Interpret(err, "git synchronization")
	}
	redirects, err := postgres.FromJSON[map[string]string](proposed.Redirects)
	if err != nil {
		return err
	}
	if err := putGitRedirects(ctx, q, space.ID, redirects); err != nil {
		return err
	}
	last, err := q.LastGitImportOf(ctx, &row.ID)
	if err != nil {
		return postgres.Interpret(err, "git operation")
	}
	if err := showGit(ctx, q, space, GitOutcome{Operation: last, Now: time.Now()}); err != nil {
		return err
	}
	return wakeGitExports(ctx, q, space, row.ID)
}

// replaceGitSync deletes the synchronization `old`, which the synchronization `next` replaces. It also removes the
// files of `old` from the space. Files that `next` has, or to which a page refers, stay.
func replaceGitSync(ctx context.Context, q *db.Queries, old, next string, head Revision) error {
	ids, err := q.FilesOnlyInGitSync(ctx, db.FilesOnlyInGitSyncParams{SyncID: old, ButNot: next})
	if err != nil {
		return postgres.Interpret(err, "git synchronization")
	}
	if len(ids) > 0 {
		unnamed, err := q.UnnamedFiles(ctx, db.UnnamedFilesParams{Ids: ids, SpaceID: head.SpaceID, Revision: head.ID})
		if err != nil {
			return postgres.Interpret(err, "files")
		}
		if err := q.EndFiles(ctx, db.EndFilesParams{Seq: head.Seq, Branch: head.Branch, Ids: unnamed}); err != nil {
			return postgres.Interpret(err, "files")
		}
	}
	return postgres.Interpret(q.DeleteGitSync(ctx, old), "git synchronization")
}

// settleGit is called after a request's status has changed. `was` is the earlier status. If the request is now
// archived, settleGit queues the exports that waited for the request. If the earlier status is archived, and a later
// synchronization has replaced the import of the request, settleGit returns an error. The request then stays archived.
// Otherwise both imports would make the same changes.
func settleGit(ctx context.Context, q *db.Queries, space Space, row ChangeRequest, was string) error {
	switch {
	case !row.GitImport:
		return nil
	case row.Status == schema.ChangeRequestArchived:
		return wakeGitExports(ctx, q, space, row.ID)
	case was != schema.ChangeRequestArchived:
		return nil
	}
	if _, err := q.GitSyncOfRequest(ctx, &row.ID); !errors.Is(err, pgx.ErrNoRows) {
		return postgres.Interpret(err, "git synchronization")
	}
	return schema.Conflict("the branch that the change request imported was imported or exported again since: " +
		"its status cannot change. Import the branch to have a change request with its current content")
}

// wakeGitExports queues the exports that wait for a change request.
func wakeGitExports(ctx context.Context, q *db.Queries, space Space, requestID string) error {
	ids, err := q.WakeGitExports(ctx, &requestID)
	if err != nil {
		return postgres.Interpret(err, "git operations")
	}
	for _, id := range ids {
		job := schema.SyncGit{Organization: space.OrganizationID, Space: space.ID, Operation: id}
		if err := postgres.Enqueue(ctx, q, job); err != nil {
			return err
		}
	}
	return nil
}

// HoldGitExport reports whether an export must wait. An export waits while a change request with an import of its
// branch is open. When the request is merged or archived, the export is queued again.
func (s *Store) HoldGitExport(ctx context.Context, o GitOperation) (held bool, err error) {
	remote, _, err := gitRemote(o)
	if err != nil {
		return false, err
	}
	err = s.db.InTx(ctx, func(_ pgx.Tx, q *db.Queries) error {
		if _, err := q.LockSpace(ctx, o.SpaceID); err != nil { // so no request can end now
			return postgres.Interpret(err, "space")
		}
		proposed, err := proposedGit(ctx, q, o.SpaceID, remote)
		if err != nil || proposed == nil {
			return err
		}
		request, err := openGitRequest(ctx, q, *proposed)
		if err != nil || request == nil {
			return err
		}
		held = true
		return setGitOperation(ctx, q, db.SetGitOperationParams{
			ID: o.ID, State: schema.GitWaiting, ChangeRequestID: &request.ID,
			Reason: fmt.Sprintf(
				"waits for the change request %d, which has an import of the branch: the export runs once "+
					"it is merged or archived",
				request.Number,
			),
		})
	})
	return held, err
}

// GitOperationAtWork returns the operation for which other operations of the space wait, or nil.
func (s *Store) GitOperationAtWork(ctx context.Context, spaceID string) (*GitOperation, error) {
	row, err := s.db.Queries.GitOperationAtWork(ctx, spaceID)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	return &row, postgres.Interpret(err, "git operations")
}
