package apispecs

import (
	"context"
	"crypto/sha256"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/postgres"
)

const (
	// askAgain is the time after which another job is enqueued for a specification if no job has stored an outcome. It
	// is longer than any job may take.
	askAgain = 30 * time.Minute
	// batchSize is the largest number of specifications for which one statement requests a fetch.
	batchSize = 1000
)

// AskForFetches enqueues a job for each organization that has specifications to fetch now.
func (s *Store) AskForFetches(ctx context.Context) error {
	return s.db.InTx(ctx, func(_ pgx.Tx, q *db.Queries) error {
		organizations, err := q.AskAboutOpenAPISpecs(ctx, db.AskAboutOpenAPISpecsParams{
			Size: batchSize, Lease: postgres.Interval(askAgain),
		})
		if err != nil {
			return postgres.Interpret(err, "OpenAPI specifications")
		}
		for _, id := range organizations {
			if err := postgres.Enqueue(ctx, q, schema.FetchOpenAPI{Organization: id}); err != nil {
				return err
			}
		}
		return nil
	})
}

// StartFetch returns the next specification that an organization's job must fetch. It leaves out the specifications in
// `begun`, which the job has already fetched. `found` is false if no specification is left.
func (s *Store) StartFetch(
	ctx context.Context, organizationID string, begun []string,
) (spec Spec, found bool, err error) {
	if begun == nil {
		begun = []string{}
	}
	spec, err = s.db.Queries.StartOpenAPISpecFetch(ctx, db.StartOpenAPISpecFetchParams{
		OrganizationID: organizationID, Begun: begun,
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return spec, false, nil
	}
	return spec, err == nil, postgres.Interpret(err, "OpenAPI specification")
}

// Fetch is the outcome of fetching a specification.
type Fetch struct {
	// Document is the fetched document. It is nil if the document is unchanged or could not be read.
	Document []byte
	// Sources describes the documents that were read. It is nil if they are unchanged.
	Sources []schema.OpenAPISourceState
	// Errors are the reasons why the specification could not be read.
	Errors []schema.OpenAPISpecError
	// Pause is the time until the next fetch. Postgres's clock measures the pause, because a node's clock may be wrong.
	Pause time.Duration
}

// EndFetch stores the outcome of fetching a specification. If the specification could not be read, its newest stored
// version stays. If the specification has got a new source since the fetch began, EndFetch does nothing, because
// another job fetches the new source.
func (s *Store) EndFetch(ctx context.Context, begun Spec, f Fetch) error {
	return s.db.InTx(ctx, func(_ pgx.Tx, q *db.Queries) error {
		spec, err := q.LockFetchedOpenAPISpec(ctx, db.LockFetchedOpenAPISpecParams{
			ID: begun.ID, SourceNumber: begun.SourceNumber,
		})
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		if err != nil {
			return postgres.Interpret(err, "OpenAPI specification")
		}
		if f.Document != nil {
			if err := s.addVersion(ctx, q, &spec, sha256.Sum256(f.Document), f.Document); err != nil {
				return postgres.Interpret(err, "OpenAPI specification version")
			}
		}
		end := db.EndOpenAPISpecFetchParams{
			ID: spec.ID, Versions: spec.Versions, LastVersion: spec.LastVersion, Pause: postgres.Interval(f.Pause),
			Fetched: spec.Fetched, Errors: []byte("[]"),
		}
		if f.Sources != nil {
			if end.Fetched, err = schema.EncodeJSON(f.Sources); err != nil {
				return err
			}
		}
		if len(f.Errors) > 0 {
			end.ErrorCode, end.FetchFailures = f.Errors[0].Code, spec.FetchFailures+1
			if end.Errors, err = schema.EncodeJSON(f.Errors); err != nil {
				return err
			}
		}
		return postgres.Interpret(q.EndOpenAPISpecFetch(ctx, end), "OpenAPI specification")
	})
}

// ContinueFetches enqueues another job if an organization has more specifications to fetch.
func (s *Store) ContinueFetches(ctx context.Context, organizationID string) error {
	return s.db.InTx(ctx, func(_ pgx.Tx, q *db.Queries) error {
		more, err := q.OpenAPISpecsWanted(ctx, organizationID)
		if err != nil || !more {
			return postgres.Interpret(err, "OpenAPI specifications")
		}
		return postgres.Enqueue(ctx, q, schema.FetchOpenAPI{Organization: organizationID})
	})
}
