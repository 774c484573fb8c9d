package view

import (
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
)

func (l Presenter) GlossaryEntry(row store.GlossaryEntry) schema.GlossaryEntry {
	return schema.GlossaryEntry{
		Object: "glossary-entry", ID: row.ID, Translations: Decoded[map[string]string](row.Translations),
		CreatedAt: row.CreatedAt.UTC(), UpdatedAt: row.UpdatedAt.UTC(),
		URLs: schema.LocationURLs{Location: l.API("orgs", row.OrganizationID, "translations-glossary", row.ID)},
	}
}
