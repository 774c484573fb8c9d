package view

import (
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
)

func (v Presenter) GlossaryEntry(row store.GlossaryEntry) (schema.GlossaryEntry, error) {
	translations, err := schema.DecodeJSON[map[string]string](row.Translations)
	if err != nil {
		return schema.GlossaryEntry{}, err
	}
	return schema.GlossaryEntry{
		Object: "glossary-entry", ID: row.ID, Translations: translations,
		CreatedAt: row.CreatedAt.UTC(), UpdatedAt: row.UpdatedAt.UTC(),
		URLs: schema.LocationURLs{Location: v.API("orgs", row.OrganizationID, "translations-glossary", row.ID)},
	}, nil
}
