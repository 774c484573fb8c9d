package store

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/db"
)

// GlossaryEntry is a row of its table.
type GlossaryEntry = db.GlossaryEntry

// GlossaryOperation is one step of a change of the glossary: one of schema.GlossaryInsert, GlossaryUpdate, GlossaryDelete.
type GlossaryOperation struct {
	Type         string
	ID           string
	Translations map[string]string
}

// UpdateGlossary applies operations in their order, all or nothing. It gives the ids of what was inserted.
func (s *Store) UpdateGlossary(ctx context.Context, organizationID string, operations []GlossaryOperation) ([]string, error) {
	var inserted []string
	err := s.inTx(ctx, func(_ pgx.Tx, q *db.Queries) error {
		if err := q.LockGlossary(ctx, organizationID); err != nil {
			return err
		}
		for i, o := range operations {
			id := o.ID
			if o.Type == schema.GlossaryInsert {
				id = schema.NewID()
				inserted = append(inserted, id)
			}
			found, err := glossaryStep(ctx, q, organizationID, id, o)
			if err != nil {
				return interpret(err, "glossary entry")
			}
			if !found {
				return schema.Invalid(fmt.Sprintf("operations[%d].id", i), "names no entry of this glossary")
			}
		}
		return nil
	})
	return inserted, err
}

func glossaryStep(ctx context.Context, q *db.Queries, organizationID, id string, o GlossaryOperation) (found bool, err error) {
	translations, err := json.Marshal(o.Translations)
	if err != nil {
		return false, err
	}
	switch o.Type {
	case schema.GlossaryInsert:
		return true, q.InsertGlossaryEntry(ctx, db.InsertGlossaryEntryParams{
			ID: id, OrganizationID: organizationID, Translations: translations,
		})
	case schema.GlossaryUpdate:
		n, err := q.UpdateGlossaryEntry(ctx, db.UpdateGlossaryEntryParams{
			ID: id, OrganizationID: organizationID, Translations: translations,
		})
		return n > 0, err
	case schema.GlossaryDelete:
		return true, q.DeleteGlossaryEntry(ctx, db.DeleteGlossaryEntryParams{ID: id, OrganizationID: organizationID})
	}
	return false, fmt.Errorf("no glossary operation is called %q", o.Type)
}

// GlossaryEntry reads an entry of an organization's glossary.
func (s *Store) GlossaryEntry(ctx context.Context, organizationID, id string) (GlossaryEntry, error) {
	row, err := s.queries.GlossaryEntryByID(ctx, db.GlossaryEntryByIDParams{ID: id, OrganizationID: organizationID})
	return row, interpret(err, "glossary entry")
}

// GlossaryRow is an entry with its place in a list that is ordered by the terms of a language.
type GlossaryRow struct {
	Entry GlossaryEntry
	Term  string
}

// ListGlossary lists an organization's glossary: in the order the entries were made, or by their terms of a language with
// those last that have none. after holds the place and the id of the entry before, nil for the first page.
func (s *Store) ListGlossary(
	ctx context.Context, organizationID string, language *string, after []string, size int,
) (Page[GlossaryRow], error) {
	term, id := "", ""
	if after != nil {
		term, id = after[0], after[1]
	}
	total, err := s.queries.CountGlossaryEntries(ctx, organizationID)
	if err != nil {
		return Page[GlossaryRow]{}, interpret(err, "glossary")
	}
	var entries []GlossaryRow
	if language != nil {
		rows, err := s.queries.ListGlossaryEntriesByTerm(ctx, db.ListGlossaryEntriesByTermParams{
			OrganizationID: organizationID, Language: *language, AfterTerm: term, After: id, PageSize: pageSize(size),
		})
		if err != nil {
			return Page[GlossaryRow]{}, interpret(err, "glossary")
		}
		for _, row := range rows {
			entries = append(entries, GlossaryRow{Entry: row.GlossaryEntry, Term: row.Term})
		}
		return pageOf(entries, size, total), nil
	}
	rows, err := s.queries.ListGlossaryEntries(ctx, db.ListGlossaryEntriesParams{
		OrganizationID: organizationID, After: id, PageSize: pageSize(size),
	})
	if err != nil {
		return Page[GlossaryRow]{}, interpret(err, "glossary")
	}
	for _, row := range rows {
		entries = append(entries, GlossaryRow{Entry: row})
	}
	return pageOf(entries, size, total), nil
}
