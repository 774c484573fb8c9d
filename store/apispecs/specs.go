package apispecs

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"math"

	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/postgres"
)

// Spec is a row of the table openapi_specs. Version is a row of the table openapi_spec_versions, without the document.
type (
	Spec    = db.OpenapiSpec
	Version = db.ListOpenAPISpecVersionsRow
)

// Source is the source of a specification. If URL is set, a job fetches the document. Otherwise Text and Document are
// set.
type Source struct {
	URL      *string
	Text     string
	Document []byte
}

// Spec reads a specification of an organization.
func (s *Store) Spec(ctx context.Context, organizationID, slug string) (Spec, error) {
	row, err := s.db.Queries.OpenAPISpec(ctx, db.OpenAPISpecParams{OrganizationID: organizationID, Slug: slug})
	return row, postgres.Interpret(err, "OpenAPI specification")
}

// List lists an organization's specifications in the order of their creation. The list begins after the id `after`.
func (s *Store) List(
	ctx context.Context, organizationID, after string, size int,
) (postgres.Page[Spec], error) {
	total, err := s.db.Queries.CountOpenAPISpecs(ctx, organizationID)
	if err != nil {
		return postgres.Page[Spec]{}, postgres.Interpret(err, "OpenAPI specifications")
	}
	rows, err := s.db.Queries.ListOpenAPISpecs(ctx, db.ListOpenAPISpecsParams{
		OrganizationID: organizationID, After: after, PageSize: postgres.PageSize(size),
	})
	if err != nil {
		return postgres.Page[Spec]{}, postgres.Interpret(err, "OpenAPI specifications")
	}
	return postgres.PageOf(rows, size, total), nil
}

// Create adds a specification. It returns a conflict if another specification already has the slug.
func (s *Store) Create(ctx context.Context, organizationID, slug string, source Source) (Spec, error) {
	var spec Spec
	err := s.db.InTx(ctx, func(_ pgx.Tx, q *db.Queries) (err error) {
		spec, err = insertSpec(ctx, q, organizationID, slug)
		if errors.Is(err, pgx.ErrNoRows) {
			return schema.Conflict("OpenAPI specification already exists")
		}
		if err == nil {
			err = s.db.Within(ctx, q, postgres.QuotaOpenAPISpecs, organizationID)
		}
		if err == nil {
			spec, err = s.setSource(ctx, q, spec, source)
		}
		return postgres.Interpret(err, "OpenAPI specification")
	})
	return spec, err
}

// Set gives a specification a new source, or adds a specification with this source. `added` reports whether it added
// a specification.
func (s *Store) Set(
	ctx context.Context, organizationID, slug string, source Source,
) (spec Spec, added bool, err error) {
	err = s.db.InTx(ctx, func(_ pgx.Tx, q *db.Queries) (err error) {
		spec, err = insertSpec(ctx, q, organizationID, slug)
		added = err == nil
		if added {
			err = s.db.Within(ctx, q, postgres.QuotaOpenAPISpecs, organizationID)
		}
		if errors.Is(err, pgx.ErrNoRows) {
			spec, err = q.LockOpenAPISpec(ctx, db.LockOpenAPISpecParams{OrganizationID: organizationID, Slug: slug})
		}
		if err == nil {
			spec, err = s.setSource(ctx, q, spec, source)
		}
		return postgres.Interpret(err, "OpenAPI specification")
	})
	return spec, added, err
}

func insertSpec(ctx context.Context, q *db.Queries, organizationID, slug string) (Spec, error) {
	return q.InsertOpenAPISpec(ctx, db.InsertOpenAPISpecParams{
		ID: schema.NewID(), OrganizationID: organizationID, Slug: slug,
	})
}

// setSource sets the source of a specification whose row the transaction has locked.
func (s *Store) setSource(ctx context.Context, q *db.Queries, spec Spec, source Source) (Spec, error) {
	if source.URL != nil {
		set, err := q.SetOpenAPISpecURL(ctx, db.SetOpenAPISpecURLParams{
			ID: spec.ID, SourceUrl: source.URL, Lease: postgres.Interval(askAgain),
		})
		if err != nil {
			return spec, err
		}
		return set, postgres.Enqueue(ctx, q, schema.FetchOpenAPI{Organization: spec.OrganizationID})
	}
	spec.SourceUrl = nil
	hash := sha256.Sum256([]byte(source.Text))
	if err := s.addVersion(ctx, q, &spec, hash, source.Document); err != nil {
		return spec, err
	}
	return q.SetOpenAPISpecText(ctx, db.SetOpenAPISpecTextParams{
		ID: spec.ID, Versions: spec.Versions, LastVersion: spec.LastVersion,
	})
}

// addVersion makes a document the newest version. If the newest version has an equal hash, addVersion adds no version.
// If there are then more versions than the store's limit, it deletes the oldest versions.
func (s *Store) addVersion(
	ctx context.Context, q *db.Queries, spec *Spec, hash [sha256.Size]byte, document []byte,
) error {
	if spec.LastVersion != nil {
		last, err := q.OpenAPISpecVersionHash(ctx, *spec.LastVersion)
		if err != nil || bytes.Equal(last, hash[:]) {
			return err
		}
	}
	id := schema.NewID()
	spec.Versions, spec.LastVersion = spec.Versions+1, &id
	err := q.InsertOpenAPISpecVersion(ctx, db.InsertOpenAPISpecVersionParams{
		ID: id, SpecID: spec.ID, Number: spec.Versions, SourceUrl: spec.SourceUrl, Hash: hash[:], Document: document,
	})
	if err != nil || s.versions <= 0 || spec.Versions <= s.versions {
		return err
	}
	return q.DeleteOldOpenAPISpecVersions(ctx, db.DeleteOldOpenAPISpecVersionsParams{
		SpecID: spec.ID, Last: spec.Versions - s.versions,
	})
}

// Delete deletes a specification with its versions. It succeeds if the specification does not exist.
func (s *Store) Delete(ctx context.Context, organizationID, slug string) error {
	return postgres.Interpret(s.db.Queries.DeleteOpenAPISpec(ctx, db.DeleteOpenAPISpecParams{
		OrganizationID: organizationID, Slug: slug,
	}), "OpenAPI specification")
}

// ListVersions lists the versions of a specification from the newest to the oldest. `before` is the number of the last
// version on the previous page, or 0 for the first page.
func (s *Store) ListVersions(
	ctx context.Context, specID string, before int32, size int,
) (postgres.Page[Version], error) {
	if before == 0 {
		before = math.MaxInt32
	}
	total, err := s.db.Queries.CountOpenAPISpecVersions(ctx, specID)
	if err != nil {
		return postgres.Page[Version]{}, postgres.Interpret(err, "OpenAPI specification versions")
	}
	rows, err := s.db.Queries.ListOpenAPISpecVersions(ctx, db.ListOpenAPISpecVersionsParams{
		SpecID: specID, Before: before, PageSize: postgres.PageSize(size),
	})
	if err != nil {
		return postgres.Page[Version]{}, postgres.Interpret(err, "OpenAPI specification versions")
	}
	return postgres.PageOf(rows, size, total), nil
}

// Version reads a version, or the newest version if `id` is nil.
func (s *Store) Version(
	ctx context.Context, organizationID, slug string, id *string,
) (Version, error) {
	row, err := s.db.Queries.OpenAPISpecVersion(ctx, db.OpenAPISpecVersionParams{
		OrganizationID: organizationID, Slug: slug, Version: id,
	})
	return Version(row), postgres.Interpret(err, "OpenAPI specification version")
}

// Document reads the document of a version that the caller has read.
func (s *Store) Document(ctx context.Context, versionID string) ([]byte, error) {
	document, err := s.db.Queries.OpenAPISpecDocument(ctx, versionID)
	return document, postgres.Interpret(err, "OpenAPI specification version")
}

// SetVisibility sets who may read the newest version of a specification.
func (s *Store) SetVisibility(ctx context.Context, organizationID, slug, visibility string) (Spec, error) {
	row, err := s.db.Queries.SetOpenAPISpecVisibility(ctx, db.SetOpenAPISpecVisibilityParams{
		OrganizationID: organizationID, Slug: slug, Visibility: visibility,
	})
	return row, postgres.Interpret(err, "OpenAPI specification")
}

// PublishedVersion returns the id of a specification's newest version, if everybody may read the specification.
// Otherwise it returns not_found.
func (s *Store) PublishedVersion(ctx context.Context, organizationID, slug string) (versionID string, err error) {
	versionID, err = s.db.Queries.PublishedOpenAPISpec(ctx, db.PublishedOpenAPISpecParams{
		OrganizationID: organizationID, Slug: slug,
	})
	return versionID, postgres.Interpret(err, "OpenAPI specification")
}
