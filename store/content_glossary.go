package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/postgres"
)

// GlossaryEntry is a row of the table glossary_entries.
type GlossaryEntry = db.GlossaryEntry

// GlossaryOperation is one step of a change of the glossary. Its type is schema.GlossaryInsert, GlossaryUpdate or
// GlossaryDelete.
type GlossaryOperation struct {
	Type         string
	ID           string
	Translations map[string]string
}

// UpdateGlossary applies operations in order, in one transaction. If one operation fails, the glossary stays unchanged.
// It returns the ids of the inserted entries.
func (s *Store) UpdateGlossary(ctx context.Context, organizationID string, operations []GlossaryOperation) ([]string, error) {
	var inserted []string
	err := s.db.InTx(ctx, func(_ pgx.Tx, q *db.Queries) error {
		if err := q.LockGlossary(ctx, organizationID); err != nil {
			return err
		}
		ids := make([]string, 0, len(operations))
		for _, o := range operations {
			ids = append(ids, o.ID)
		}
		known, err := q.GlossaryEntriesAmong(ctx, db.GlossaryEntriesAmongParams{OrganizationID: organizationID, Ids: ids})
		if err != nil {
			return err
		}
		change, err := glossaryChange(organizationID, known, operations)
		if err != nil {
			return err
		}
		inserted = change.insert.Ids
		return change.apply(ctx, q)
	})
	return inserted, err
}

// glossaryWrites has the rows of the table glossary_entries that operations insert, update and delete. Operations on
// the same entry are combined.
type glossaryWrites struct {
	insert db.InsertGlossaryEntriesParams
	update db.UpdateGlossaryEntriesParams
	remove db.DeleteGlossaryEntriesParams
}

// glossaryChange computes the writes of operations on a locked glossary. `known` has the ids of existing entries that
// the operations name.
func glossaryChange(organizationID string, known []string, operations []GlossaryOperation) (w glossaryWrites, err error) {
	w.insert.OrganizationID, w.update.OrganizationID, w.remove.OrganizationID = organizationID, organizationID, organizationID
	there, updated := map[string]bool{}, map[string][]byte{}
	for _, id := range known {
		there[id] = true
	}
	for i, o := range operations {
		translations, err := postgres.ToJSON(o.Translations)
		if err != nil {
			return w, err
		}
		switch o.Type {
		case schema.GlossaryInsert:
			w.insert.Ids, w.insert.Translations = append(w.insert.Ids, schema.NewID()), append(w.insert.Translations, translations)
		case schema.GlossaryUpdate:
			if !there[o.ID] {
				return w, schema.Invalid(fmt.Sprintf("operations[%d].id", i), "names no entry of this glossary")
			}
			updated[o.ID] = translations
		case schema.GlossaryDelete:
			delete(there, o.ID)
			delete(updated, o.ID)
			w.remove.Ids = append(w.remove.Ids, o.ID)
		default:
			return w, schema.Internal(fmt.Errorf("no glossary operation is called %q", o.Type))
		}
	}
	for id, translations := range updated {
		w.update.Ids, w.update.Translations = append(w.update.Ids, id), append(w.update.Translations, translations)
	}
	return w, nil
}

func (w glossaryWrites) apply(ctx context.Context, q *db.Queries) error {
	if len(w.insert.Ids) > 0 {
		if err := q.InsertGlossaryEntries(ctx, w.insert); err != nil {
			return postgres.Interpret(err, "glossary entry")
		}
	}
	if len(w.update.Ids) > 0 {
		if err := q.UpdateGlossaryEntries(ctx, w.update); err != nil {
			return postgres.Interpret(err, "glossary entry")
		}
	}
	if len(w.remove.Ids) > 0 {
		return postgres.Interpret(q.DeleteGlossaryEntries(ctx, w.remove), "glossary entry")
	}
	return nil
}

// GlossaryEntry reads an entry of an organization's glossary.
func (s *Store) GlossaryEntry(ctx context.Context, organizationID, id string) (GlossaryEntry, error) {
	row, err := s.db.Queries.GlossaryEntryByID(ctx, db.GlossaryEntryByIDParams{ID: id, OrganizationID: organizationID})
	return row, postgres.Interpret(err, "glossary entry")
}

// GlossaryRow is an entry with its sort key, Term, in a list that is sorted by the terms of a language.
type GlossaryRow struct {
	Entry GlossaryEntry
	Term  string
}

// ListGlossary lists an organization's glossary. If `language` is set, it sorts the entries by their terms in this
// language, and entries without such a term come last. Otherwise it sorts the entries by age. `after` has the term and
// the id of the previous page's last entry. It is nil for the first page.
func (s *Store) ListGlossary(
	ctx context.Context, organizationID string, language *string, after []string, size int,
) (postgres.Page[GlossaryRow], error) {
	term, id := "", ""
	if after != nil {
		term, id = after[0], after[1]
	}
	total, err := s.db.Queries.CountGlossaryEntries(ctx, organizationID)
	if err != nil {
		return postgres.Page[GlossaryRow]{}, postgres.Interpret(err, "glossary")
	}
	var entries []GlossaryRow
	if language != nil {
		rows, err := s.db.Queries.ListGlossaryEntriesByTerm(ctx, db.ListGlossaryEntriesByTermParams{
			OrganizationID: organizationID, Language: *language, AfterTerm: term, After: id,
			PageSize: postgres.PageSize(size),
		})
		if err != nil {
			return postgres.Page[GlossaryRow]{}, postgres.Interpret(err, "glossary")
		}
		for _, row := range rows {
			entries = append(entries, GlossaryRow{Entry: row.GlossaryEntry, Term: row.Term})
		}
		return postgres.PageOf(entries, size, total), nil
	}
	rows, err := s.db.Queries.ListGlossaryEntries(ctx, db.ListGlossaryEntriesParams{
		OrganizationID: organizationID, After: id, PageSize: postgres.PageSize(size),
	})
	if err != nil {
		return postgres.Page[GlossaryRow]{}, postgres.Interpret(err, "glossary")
	}
	for _, row := range rows {
		entries = append(entries, GlossaryRow{Entry: row})
	}
	return postgres.PageOf(entries, size, total), nil
}
