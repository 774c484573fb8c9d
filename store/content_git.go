package store

import (
	"context"
	"net/url"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/postgres"
)

// GitOperation is a row of the table git_operations.
type GitOperation = db.GitOperation

// NewGitOperation is an import or an export that is to run.
type NewGitOperation struct {
	OrganizationID string
	SpaceID        string
	Kind           string
	// URL may contain a user and a password. The store removes both from the URL and stores them encrypted.
	URL        string
	Ref        string
	Parameters schema.GitParameters
	Provider   *string
	// RepoURL is the URL of the repository's web page, for people.
	RepoURL *string
	// Timestamp orders the operations of a space.
	Timestamp time.Time
	UserID    string
}

// QueueGitOperation stores an operation and enqueues its job.
func (s *Store) QueueGitOperation(ctx context.Context, n NewGitOperation) (GitOperation, error) {
	address, err := url.Parse(n.URL)
	if err != nil {
		return GitOperation{}, schema.Invalid("url", "is not a URL")
	}
	params := db.InsertGitOperationParams{
		ID: schema.NewID(), SpaceID: n.SpaceID, Kind: n.Kind, State: schema.GitQueued,
		Url: schema.WithoutCredentials(n.URL), Ref: n.Ref, Provider: n.Provider, RepoUrl: n.RepoURL, Timestamp: n.Timestamp,
		CreatedBy: &n.UserID,
	}
	if params.Parameters, err = postgres.ToJSON(n.Parameters); err != nil {
		return GitOperation{}, err
	}
	if address.User != nil {
		params.Credentials, err = s.db.Seal(ctx, "git operation "+params.ID, []byte(address.User.String()))
		if err != nil {
			return GitOperation{}, err
		}
	}
	var row GitOperation
	err = s.db.InTx(ctx, func(_ pgx.Tx, q *db.Queries) error {
		if row, err = q.InsertGitOperation(ctx, params); err != nil {
			return postgres.Interpret(err, "space")
		}
		return postgres.Enqueue(ctx, q, schema.SyncGit{
			Organization: n.OrganizationID, Space: n.SpaceID, Operation: row.ID,
		})
	})
	return row, err
}

// GitCredentials returns the user and the password from the URL of an operation's repository, for the operation's job.
// It returns "" if the URL had no credentials, or after the operation is done. API responses never contain credentials.
func (s *Store) GitCredentials(ctx context.Context, operationID string) (string, error) {
	sealed, err := s.db.Queries.GitCredentials(ctx, operationID)
	if err != nil || sealed == nil {
		return "", postgres.Interpret(err, "git operation")
	}
	credentials, err := s.db.Unseal(ctx, "git operation "+operationID, sealed)
	return string(credentials), err
}

// ListGitOperations lists the operations of a space. The latest operation is first. If `after` is set, the list
// continues after this cursor.
func (s *Store) ListGitOperations(
	ctx context.Context, spaceID string, after *postgres.Cursor[time.Time], size int,
) (postgres.Page[GitOperation], error) {
	total, err := s.db.Queries.CountGitOperations(ctx, spaceID)
	if err != nil {
		return postgres.Page[GitOperation]{}, postgres.Interpret(err, "git operations")
	}
	from := after.OrFirst(postgres.EndOfTime)
	rows, err := s.db.Queries.ListGitOperations(ctx, db.ListGitOperationsParams{
		SpaceID: spaceID, Before: from.Key, BeforeID: from.ID, PageSize: postgres.PageSize(size),
	})
	if err != nil {
		return postgres.Page[GitOperation]{}, postgres.Interpret(err, "git operations")
	}
	return postgres.PageOf(rows, size, total), nil
}
