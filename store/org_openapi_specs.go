package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"math"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/postgres"
)

// OpenAPISpec is a row of its table; OpenAPISpecVersion is a version without its document.
type (
	OpenAPISpec        = db.OpenapiSpec
	OpenAPISpecVersion = db.ListOpenAPISpecVersionsRow
)

// OpenAPISource is where a specification comes from: a URL, which a job fetches, or a text and the document in it.
type OpenAPISource struct {
	URL      *string
	Text     string
	Document []byte
}

// OpenAPISpec reads a specification of an organization.
func (s *Store) OpenAPISpec(ctx context.Context, organizationID, slug string) (OpenAPISpec, error) {
	row, err := s.db.Queries.OpenAPISpec(ctx, db.OpenAPISpecParams{OrganizationID: organizationID, Slug: slug})
	return row, postgres.Interpret(err, "OpenAPI specification")
}

// ListOpenAPISpecs lists an organization's specifications in the order they were made, after the id `after`.
func (s *Store) ListOpenAPISpecs(
	ctx context.Context, organizationID, after string, size int,
) (postgres.Page[OpenAPISpec], error) {
	total, err := s.db.Queries.CountOpenAPISpecs(ctx, organizationID)
	if err != nil {
		return postgres.Page[OpenAPISpec]{}, postgres.Interpret(err, "OpenAPI specifications")
	}
	rows, err := s.db.Queries.ListOpenAPISpecs(ctx, db.ListOpenAPISpecsParams{
		OrganizationID: organizationID, After: after, PageSize: postgres.PageSize(size),
	})
	if err != nil {
		return postgres.Page[OpenAPISpec]{}, postgres.Interpret(err, "OpenAPI specifications")
	}
	return postgres.PageOf(rows, size, total), nil
}

// CreateOpenAPISpec adds a specification; a slug that is taken is a conflict.
func (s *Store) CreateOpenAPISpec(ctx context.Context, organizationID, slug string, source OpenAPISource) (OpenAPISpec, error) {
	var spec OpenAPISpec
	err := s.db.InTx(ctx, func(_ pgx.Tx, q *db.Queries) (err error) {
		spec, err = insertOpenAPISpec(ctx, q, organizationID, slug)
		if errors.Is(err, pgx.ErrNoRows) {
			return schema.Conflict("OpenAPI specification already exists")
		}
		if err == nil {
			err = s.db.Within(ctx, q, postgres.QuotaOpenAPISpecs, organizationID)
		}
		if err == nil {
			spec, err = s.setOpenAPISource(ctx, q, spec, source)
		}
		return postgres.Interpret(err, "OpenAPI specification")
	})
	return spec, err
}

// SetOpenAPISpec gives a specification a new source, or adds it with this source, and says whether it was added.
func (s *Store) SetOpenAPISpec(
	ctx context.Context, organizationID, slug string, source OpenAPISource,
) (spec OpenAPISpec, added bool, err error) {
	err = s.db.InTx(ctx, func(_ pgx.Tx, q *db.Queries) (err error) {
		spec, err = insertOpenAPISpec(ctx, q, organizationID, slug)
		added = err == nil
		if added {
			err = s.db.Within(ctx, q, postgres.QuotaOpenAPISpecs, organizationID)
		}
		if errors.Is(err, pgx.ErrNoRows) {
			spec, err = q.LockOpenAPISpec(ctx, db.LockOpenAPISpecParams{OrganizationID: organizationID, Slug: slug})
		}
		if err == nil {
			spec, err = s.setOpenAPISource(ctx, q, spec, source)
		}
		return postgres.Interpret(err, "OpenAPI specification")
	})
	return spec, added, err
}

func insertOpenAPISpec(ctx context.Context, q *db.Queries, organizationID, slug string) (OpenAPISpec, error) {
	return q.InsertOpenAPISpec(ctx, db.InsertOpenAPISpecParams{ID: schema.NewID(), OrganizationID: organizationID, Slug: slug})
}

// setOpenAPISource is for a specification whose row the transaction holds.
func (s *Store) setOpenAPISource(ctx context.Context, q *db.Queries, spec OpenAPISpec, source OpenAPISource) (OpenAPISpec, error) {
	if source.URL != nil {
		again := time.Now().Add(specAskAgain)
		set, err := q.SetOpenAPISpecURL(ctx, db.SetOpenAPISpecURLParams{ID: spec.ID, SourceUrl: source.URL, AskAgain: &again})
		if err != nil {
			return spec, err
		}
		return set, postgres.Enqueue(ctx, q, schema.FetchOpenAPI{Organization: spec.OrganizationID})
	}
	spec.SourceUrl = nil
	hash := sha256.Sum256([]byte(source.Text))
	if err := s.addOpenAPISpecVersion(ctx, q, &spec, hash, source.Document); err != nil {
		return spec, err
	}
	return q.SetOpenAPISpecText(ctx, db.SetOpenAPISpecTextParams{ID: spec.ID, Versions: spec.Versions, LastVersion: spec.LastVersion})
}

// addOpenAPISpecVersion makes a document the newest version, of which the specification then tells, unless that has the same hash.
// It deletes the oldest versions beyond those that are kept.
func (s *Store) addOpenAPISpecVersion(ctx context.Context, q *db.Queries, spec *OpenAPISpec, hash [sha256.Size]byte, document []byte) error {
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
	if err != nil || s.config.OpenAPIVersions <= 0 || spec.Versions <= s.config.OpenAPIVersions {
		return err
	}
	return q.DeleteOldOpenAPISpecVersions(ctx, db.DeleteOldOpenAPISpecVersionsParams{
		SpecID: spec.ID, Last: spec.Versions - s.config.OpenAPIVersions,
	})
}

// DeleteOpenAPISpec deletes a specification with its versions, if there is one.
func (s *Store) DeleteOpenAPISpec(ctx context.Context, organizationID, slug string) error {
	return postgres.Interpret(s.db.Queries.DeleteOpenAPISpec(ctx, db.DeleteOpenAPISpecParams{
		OrganizationID: organizationID, Slug: slug,
	}), "OpenAPI specification")
}

// ListOpenAPISpecVersions lists the versions of a specification from the newest to the oldest; before is the number of the
// last one that was listed, 0 for none.
func (s *Store) ListOpenAPISpecVersions(
	ctx context.Context, specID string, before int32, size int,
) (postgres.Page[OpenAPISpecVersion], error) {
	if before == 0 {
		before = math.MaxInt32
	}
	total, err := s.db.Queries.CountOpenAPISpecVersions(ctx, specID)
	if err != nil {
		return postgres.Page[OpenAPISpecVersion]{}, postgres.Interpret(err, "OpenAPI specification versions")
	}
	rows, err := s.db.Queries.ListOpenAPISpecVersions(ctx, db.ListOpenAPISpecVersionsParams{
		SpecID: specID, Before: before, PageSize: postgres.PageSize(size),
	})
	if err != nil {
		return postgres.Page[OpenAPISpecVersion]{}, postgres.Interpret(err, "OpenAPI specification versions")
	}
	return postgres.PageOf(rows, size, total), nil
}

// OpenAPISpecVersion reads a version; the newest one for a nil id.
func (s *Store) OpenAPISpecVersion(
	ctx context.Context, organizationID, slug string, id *string,
) (OpenAPISpecVersion, error) {
	row, err := s.db.Queries.OpenAPISpecVersion(ctx, db.OpenAPISpecVersionParams{
		OrganizationID: organizationID, Slug: slug, Version: id,
	})
	return OpenAPISpecVersion(row), postgres.Interpret(err, "OpenAPI specification version")
}

// OpenAPISpecDocument reads the document of a version that the caller was given.
func (s *Store) OpenAPISpecDocument(ctx context.Context, versionID string) ([]byte, error) {
	document, err := s.db.Queries.OpenAPISpecDocument(ctx, versionID)
	return document, postgres.Interpret(err, "OpenAPI specification version")
}

// SetOpenAPISpecVisibility says who may read the newest version of a specification.
func (s *Store) SetOpenAPISpecVisibility(ctx context.Context, organizationID, slug, visibility string) (OpenAPISpec, error) {
	row, err := s.db.Queries.SetOpenAPISpecVisibility(ctx, db.SetOpenAPISpecVisibilityParams{
		OrganizationID: organizationID, Slug: slug, Visibility: visibility,
	})
	return row, postgres.Interpret(err, "OpenAPI specification")
}

// PublishedOpenAPISpec finds the newest version of a specification that everybody may read. Others are not found.
func (s *Store) PublishedOpenAPISpec(ctx context.Context, organizationID, slug string) (versionID string, err error) {
	versionID, err = s.db.Queries.PublishedOpenAPISpec(ctx, db.PublishedOpenAPISpecParams{
		OrganizationID: organizationID, Slug: slug,
	})
	return versionID, postgres.Interpret(err, "OpenAPI specification")
}
