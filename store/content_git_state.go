package store

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content/gitlayout"
	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/postgres"
)

// gitOutdated is the reason that users read for a skipped operation.
const gitOutdated = "a later operation was done before: an import or export with a later timestamp"

// gitSuperseded is the beginning of a text for users. The text says why an operation is not retried.
const gitSuperseded = "a later operation was done before the next attempt; the last attempt failed: "

// gitCancelled is the reason that users read for an operation that a user cancelled.
const gitCancelled = "it was cancelled"

// gitForbidden is the reason that users read for an operation whose author has lost the right to it.
const gitForbidden = "whoever asked for it may not import to and export from this space any more: ask for it again"

// gitTransferred is the reason that users read for an operation whose space went to another organization.
const gitTransferred = "the space went to another organization: ask for it again there"

// StartGitOperation begins an operation. `run` is false if the operation is already over, or if it is skipped because a
// later operation is done. Standalone imports are never skipped, and never cause other operations to be skipped.
func (s *Store) StartGitOperation(ctx context.Context, id string) (o GitOperation, run bool, err error) {
	err = s.db.InTx(ctx, func(_ pgx.Tx, q *db.Queries) error {
		if o, err = q.LockGitOperation(ctx, id); err != nil {
			return postgres.Interpret(err, "git operation")
		}
		if schema.GitOver(o.State) && o.State != schema.GitFailed { // users may retry a failed operation
			return nil
		}
		parameters, err := postgres.FromJSON[schema.GitParameters](o.Parameters)
		if err != nil {
			return err
		}
		if !schema.Or(parameters.Standalone, false) {
			newer, err := q.NewerGitOperation(ctx, db.NewerGitOperationParams{
				SpaceID: o.SpaceID, After: o.Timestamp, ID: o.ID, Kind: o.Kind, Url: o.Url, Ref: o.Ref,
			})
			if err != nil {
				return postgres.Interpret(err, "git operations")
			}
			if newer {
				set := db.SetGitOperationParams{ID: id, State: schema.GitSkipped, Reason: gitOutdated}
				if o.State == schema.GitRetrying {
					set.State, set.Reason = schema.GitSuperseded, gitSuperseded+o.Reason
				}
				return setGitOperation(ctx, q, set)
			}
		}
		run = true
		return setGitOperation(ctx, q, db.SetGitOperationParams{ID: id, State: schema.GitRunning})
	})
	return o, run, err
}

// FailGitOperation records that an operation failed, with the reason. `again` is true if the job will retry the
// operation.
func (s *Store) FailGitOperation(ctx context.Context, id, reason string, again bool) error {
	set := db.SetGitOperationParams{ID: id, State: schema.GitFailed, Reason: reason}
	if again {
		set.State = schema.GitRetrying
	}
	return setGitOperation(ctx, s.db.Queries, set)
}

// ForbidGitOperation records that an operation failed because its author has lost the right to it. It removes the
// credentials, because another attempt would fail too.
func (s *Store) ForbidGitOperation(ctx context.Context, id string) error {
	return setGitOperation(ctx, s.db.Queries, db.SetGitOperationParams{
		ID: id, State: schema.GitFailed, Reason: gitForbidden, Forget: true,
	})
}

// RequeueGitOperation records that an operation is queued again, because its node is stopping or other jobs have their
// turn.
func (s *Store) RequeueGitOperation(ctx context.Context, id string) error {
	return setGitOperation(ctx, s.db.Queries, db.SetGitOperationParams{ID: id, State: schema.GitQueued})
}

// ErrGitCancelled ends the run of an operation that a user cancelled.
var ErrGitCancelled = errors.New("the operation was cancelled")

// NoteGitProgress stores an operation's progress. If `progress` is nil, it stores nothing. It returns ErrGitCancelled
// if a user has cancelled the operation.
func (s *Store) NoteGitProgress(ctx context.Context, id string, progress *schema.GitProgress) error {
	p := db.GitProgressParams{ID: id}
	if progress != nil {
		var err error
		if p.Progress, err = postgres.ToJSON(progress); err != nil {
			return err
		}
	}
	state, err := s.db.Queries.GitProgress(ctx, p)
	if err == nil && state == schema.GitCancelled {
		return ErrGitCancelled
	}
	return postgres.Interpret(err, "git operation")
}

// CancelGitOperation cancels an operation that is not over. If the operation is running, the run ends soon and stores
// nothing more. An export that has already pushed still becomes done.
func (s *Store) CancelGitOperation(ctx context.Context, spaceID, id string) (o GitOperation, err error) {
	err = s.db.InTx(ctx, func(_ pgx.Tx, q *db.Queries) error {
		if o, err = q.LockGitOperation(ctx, id); err != nil {
			return postgres.Interpret(err, "git operation")
		}
		if o.SpaceID != spaceID {
			return schema.NotFound("git operation")
		}
		switch {
		case o.State == schema.GitCancelled:
			return nil
		case schema.GitOver(o.State):
			return schema.Conflict("the operation is over: it is " + o.State)
		}
		set := db.SetGitOperationParams{ID: id, State: schema.GitCancelled, Reason: gitCancelled}
		if err := setGitOperation(ctx, q, set); err != nil {
			return err
		}
		if err := q.EndGitJobs(ctx, db.EndGitJobsParams{
			SpaceID: spaceID, Operation: id, Attempted: o.State == schema.GitRetrying,
		}); err != nil {
			return postgres.Interpret(err, "jobs")
		}
		o, err = q.GitOperation(ctx, id)
		return postgres.Interpret(err, "git operation")
	})
	return o, err
}

// GitRetries returns the times of the next attempts of a space's operations.
func (s *Store) GitRetries(ctx context.Context, spaceID string) (map[string]time.Time, error) {
	rows, err := s.db.Queries.GitRetries(ctx, spaceID)
	at := make(map[string]time.Time, len(rows))
	for _, row := range rows {
		at[row.Operation] = row.ScheduledAt
	}
	return at, postgres.Interpret(err, "jobs")
}

// FailLostGitOperations marks operations as failed if their jobs ended without a result. River, for example, ends jobs
// that it cannot rescue.
func (s *Store) FailLostGitOperations(ctx context.Context) error {
	return postgres.Interpret(s.db.Queries.FailLostGitOperations(ctx, postgres.JobLost), "git operations")
}

func setGitOperation(ctx context.Context, q *db.Queries, set db.SetGitOperationParams) error {
	return postgres.Interpret(q.SetGitOperation(ctx, set), "git operation")
}

// ForgetGitCredentials removes the credentials of operations whose failed jobs are deleted, because such operations
// cannot be retried.
func (s *Store) ForgetGitCredentials(ctx context.Context) error {
	return postgres.Interpret(
		s.db.Queries.ForgetGitCredentials(ctx, postgres.Interval(schema.JobFailedKept)), "git operations",
	)
}

// gitRemote returns the name of the remote side of a synchronization. Operations with the same repository, branch and
// folder have the same name, even if their logins differ.
func gitRemote(o GitOperation) (remote, folder string, err error) {
	parameters, err := postgres.FromJSON[schema.GitParameters](o.Parameters)
	folder = schema.GitFolder(parameters.RepoProjectDirectory)
	return postgres.HashOf([]byte(fmt.Sprintf("%q %q %q", o.Url, o.Ref, folder))), folder, err
}

// GitOutcome is the outcome of an operation.
type GitOutcome struct {
	Operation GitOperation
	Commit    string
	Notes     []schema.GitNote
	// Reason is a message for users about an operation that is done, or "".
	Reason string
	Now    time.Time
}

// finishGit records that an operation is done.
func finishGit(ctx context.Context, q *db.Queries, out GitOutcome, revision string) error {
	set := db.SetGitOperationParams{
		ID: out.Operation.ID, State: schema.GitDone, Reason: out.Reason, CommitHash: &out.Commit, Revision: &revision,
		ChangeRequestID: out.Operation.ChangeRequestID, AllowedBy: out.Operation.AllowedBy,
	}
	if len(out.Notes) > 0 {
		notes, err := postgres.ToJSON(out.Notes)
		if err != nil {
			return err
		}
		set.Notes = notes
	}
	return setGitOperation(ctx, q, set)
}

// putGitSync stores the changed files of a synchronization, or of a change request's proposed synchronization.
func putGitSync(
	ctx context.Context, q *db.Queries, out GitOutcome, b GitBase, put db.PutGitSyncParams,
	files map[string]gitlayout.Synced,
) error {
	put.ID, put.SpaceID, put.Remote, put.CommitHash = b.id, out.Operation.SpaceID, b.remote, out.Commit
	put.Url, put.Folder, put.Imported = out.Operation.Url, b.folder, out.Operation.Kind == schema.GitImport
	if err := q.PutGitSync(ctx, put); err != nil {
		return postgres.Interpret(err, "git synchronization")
	}
	gone := db.DeleteGitSyncFilesParams{SyncID: b.id}
	for name := range b.stored {
		if _, there := files[name]; !there {
			gone.Paths = append(gone.Paths, name)
		}
	}
	rows := db.PutGitSyncFilesParams{SyncID: b.id}
	for _, name := range slices.Sorted(maps.Keys(files)) { // two writers then lock the rows in the same order
		f := files[name]
		if was, there := b.stored[name]; !there || was != f {
			rows.Paths, rows.Blobs = append(rows.Paths, name), append(rows.Blobs, f.Blob)
			rows.Pages, rows.Files = append(rows.Pages, f.Page), append(rows.Files, f.File)
		}
	}
	if err := q.DeleteGitSyncFiles(ctx, gone); err != nil {
		return postgres.Interpret(err, "git synchronization")
	}
	return postgres.Interpret(q.PutGitSyncFiles(ctx, rows), "git synchronization")
}

// putGitRedirects replaces the space's redirects.
func putGitRedirects(ctx context.Context, q *db.Queries, spaceID string, redirects map[string]string) error {
	put := db.PutGitRedirectsParams{SpaceID: spaceID, Sources: slices.Sorted(maps.Keys(redirects))}
	for _, source := range put.Sources {
		put.Pages = append(put.Pages, redirects[source])
	}
	if put.Sources == nil {
		put.Sources = []string{} // with null, the statement would delete nothing
	}
	if err := q.DeleteGitRedirects(ctx, db.DeleteGitRedirectsParams{SpaceID: spaceID, Sources: put.Sources}); err != nil {
		return postgres.Interpret(err, "redirects")
	}
	if len(redirects) == 0 {
		return nil
	}
	return postgres.Interpret(q.PutGitRedirects(ctx, put), "redirects")
}

// showGit sets the repository that a space shows to users. If the operation has no provider and no URL for people,
// showGit changes only the time of the last synchronization.
func showGit(ctx context.Context, q *db.Queries, space Space, out GitOutcome) error {
	o := out.Operation
	var state schema.GitSyncState
	if space.GitSync != nil {
		var err error
		if state, err = postgres.FromJSON[schema.GitSyncState](space.GitSync); err != nil {
			return err
		}
	} else if o.Provider == nil && o.RepoUrl == nil {
		return nil
	}
	if o.Provider != nil {
		state.InstallationProvider = *o.Provider
	}
	if o.RepoUrl != nil || o.Provider != nil {
		state.URL = schema.Or(o.RepoUrl, o.Url)
		state.RepoName = schema.RepoName(state.URL)
	}
	at := out.Now.UTC()
	state.UpdatedAt = &at
	encoded, err := schema.EncodeJSON(state)
	if err != nil {
		return err
	}
	return postgres.Interpret(q.SetGitInfo(ctx, db.SetGitInfoParams{ID: space.ID, GitSync: encoded}), "space")
}
