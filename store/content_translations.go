package store

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/postgres"
)

// Translation is a row of the table translations.
type Translation = db.Translation

// ShownTranslation is a translation with its last run.
type ShownTranslation struct {
	Translation
	// Latest is nil before the first run.
	Latest *LatestRun
}

// withRuns returns translations with their last runs.
func (s *Store) withRuns(ctx context.Context, rows []Translation) ([]ShownTranslation, error) {
	ids := make([]string, len(rows))
	for i, row := range rows {
		ids[i] = row.ID
	}
	latest, err := s.latestTranslationRuns(ctx, ids)
	shown := make([]ShownTranslation, len(rows))
	for i, row := range rows {
		shown[i].Translation = row
		if run, there := latest[row.ID]; there {
			shown[i].Latest = &run
		}
	}
	return shown, err
}

// withRun returns a translation with its last run. `row` and `err` are the results of the statement that read the
// translation.
func (s *Store) withRun(ctx context.Context, row Translation, err error) (ShownTranslation, error) {
	if err != nil {
		return ShownTranslation{}, postgres.Interpret(err, "translation")
	}
	shown, err := s.withRuns(ctx, []Translation{row})
	if err != nil {
		return ShownTranslation{}, err
	}
	return shown[0], nil
}

// NewTranslation has the values of a new translation. Instructions is JSON.
type NewTranslation struct {
	OrganizationID string
	SourceSpaceID  string
	SourceLanguage string
	Language       string
	Instructions   []byte
}

// CreateTranslation adds a translation of a space of the organization. It returns an error for a space of another
// organization, and for a second translation into the same language.
func (s *Store) CreateTranslation(ctx context.Context, t NewTranslation) (Translation, error) {
	var row Translation
	err := s.db.InTx(ctx, func(_ pgx.Tx, q *db.Queries) error {
		_, err := q.LockSpaceToTranslate(ctx, db.LockSpaceToTranslateParams{ID: t.SourceSpaceID, OrganizationID: t.OrganizationID})
		if err = postgres.Interpret(err, "source space"); schema.IsCode(err, schema.CodeNotFound) {
			return schema.Invalid("source.space", "names no space of this organization")
		}
		if err != nil {
			return err
		}
		known, err := q.TranslationInto(ctx, db.TranslationIntoParams{SourceSpaceID: t.SourceSpaceID, Language: t.Language})
		if err == nil {
			return schema.Conflict("the space has a translation into this language already: " + known)
		}
		if !errors.Is(err, pgx.ErrNoRows) {
			return postgres.Interpret(err, "translation")
		}
		row, err = q.InsertTranslation(ctx, db.InsertTranslationParams{
			ID: schema.NewID(), OrganizationID: t.OrganizationID, SourceSpaceID: t.SourceSpaceID, SourceLanguage: t.SourceLanguage,
			Language: t.Language, Instructions: t.Instructions,
		})
		return postgres.Interpret(err, "translation")
	})
	return row, err
}

// Translation reads a translation of an organization.
func (s *Store) Translation(ctx context.Context, organizationID, id string) (ShownTranslation, error) {
	row, err := s.db.Queries.TranslationByID(ctx, db.TranslationByIDParams{ID: id, OrganizationID: organizationID})
	return s.withRun(ctx, row, err)
}

// UpdateTranslation replaces the instructions of a translation. They are JSON.
func (s *Store) UpdateTranslation(ctx context.Context, organizationID, id string, instructions []byte) (ShownTranslation, error) {
	row, err := s.db.Queries.UpdateTranslation(ctx, db.UpdateTranslationParams{
		ID: id, OrganizationID: organizationID, Instructions: instructions,
	})
	return s.withRun(ctx, row, err)
}

// DeleteTranslation deletes a translation, if it exists. Its copies stay.
func (s *Store) DeleteTranslation(ctx context.Context, organizationID, id string) error {
	err := s.db.Queries.DeleteTranslation(ctx, db.DeleteTranslationParams{ID: id, OrganizationID: organizationID})
	return postgres.Interpret(err, "translation")
}

// ListTranslations lists an organization's translations in the order of their creation. The list begins after the id
// `after`.
func (s *Store) ListTranslations(
	ctx context.Context, organizationID, after string, size int,
) (postgres.Page[ShownTranslation], error) {
	total, err := s.db.Queries.CountTranslations(ctx, organizationID)
	if err != nil {
		return postgres.Page[ShownTranslation]{}, postgres.Interpret(err, "translations")
	}
	rows, err := s.db.Queries.ListTranslations(ctx, db.ListTranslationsParams{
		OrganizationID: organizationID, After: after, PageSize: postgres.PageSize(size),
	})
	if err != nil {
		return postgres.Page[ShownTranslation]{}, postgres.Interpret(err, "translations")
	}
	shown, err := s.withRuns(ctx, rows)
	return postgres.PageOf(shown, size, total), err
}
