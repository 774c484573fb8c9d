package store

import (
	"context"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/db"
)

// Translation is a row of its table.
type Translation = db.Translation

// NewTranslation is what a translation is made of. Instructions are JSON.
type NewTranslation struct {
	OrganizationID string
	SourceSpaceID  string
	SourceLanguage string
	Language       string
	Instructions   []byte
}

// CreateTranslation adds a translation of a space of the organization; any other space is refused.
func (s *Store) CreateTranslation(ctx context.Context, t NewTranslation) (Translation, error) {
	row, err := s.queries.InsertTranslation(ctx, db.InsertTranslationParams{
		ID: schema.NewID(), OrganizationID: t.OrganizationID, SourceSpaceID: t.SourceSpaceID, SourceLanguage: t.SourceLanguage,
		Language: t.Language, Instructions: t.Instructions,
	})
	if err = interpret(err, "source space"); schema.IsCode(err, schema.CodeNotFound) {
		return row, schema.Invalid("source.space", "names no space of this organization")
	}
	return row, err
}

// Translation reads a translation of an organization.
func (s *Store) Translation(ctx context.Context, organizationID, id string) (Translation, error) {
	row, err := s.queries.TranslationByID(ctx, db.TranslationByIDParams{ID: id, OrganizationID: organizationID})
	return row, interpret(err, "translation")
}

// UpdateTranslation replaces the instructions, which are JSON.
func (s *Store) UpdateTranslation(ctx context.Context, organizationID, id string, instructions []byte) (Translation, error) {
	row, err := s.queries.UpdateTranslation(ctx, db.UpdateTranslationParams{
		ID: id, OrganizationID: organizationID, Instructions: instructions,
	})
	return row, interpret(err, "translation")
}

// RequestTranslationRun records that a run is asked for.
func (s *Store) RequestTranslationRun(ctx context.Context, organizationID, id string) error {
	found, err := s.queries.RequestTranslationRun(ctx, db.RequestTranslationRunParams{ID: id, OrganizationID: organizationID})
	if err == nil && found == 0 {
		return schema.NotFound("translation")
	}
	return interpret(err, "translation")
}

// DeleteTranslation deletes a translation if it is there. What it has written stays.
func (s *Store) DeleteTranslation(ctx context.Context, organizationID, id string) error {
	err := s.queries.DeleteTranslation(ctx, db.DeleteTranslationParams{ID: id, OrganizationID: organizationID})
	return interpret(err, "translation")
}

// ListTranslations lists an organization's translations in the order they were made, after the id `after`.
func (s *Store) ListTranslations(ctx context.Context, organizationID, after string, size int) (Page[Translation], error) {
	total, err := s.queries.CountTranslations(ctx, organizationID)
	if err != nil {
		return Page[Translation]{}, interpret(err, "translations")
	}
	rows, err := s.queries.ListTranslations(ctx, db.ListTranslationsParams{
		OrganizationID: organizationID, After: after, PageSize: pageSize(size),
	})
	if err != nil {
		return Page[Translation]{}, interpret(err, "translations")
	}
	return pageOf(rows, size, total), nil
}
