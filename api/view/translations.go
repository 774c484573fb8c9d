package view

import (
	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
)

// noTranslator is the reason shown for queued runs.
const noTranslator = "no translator is configured on this installation; the run waits until there is one"

func (v Presenter) Translation(rights access.Rights) func(store.Translation) (schema.Translation, error) {
	return func(row store.Translation) (schema.Translation, error) {
		instructions, err := schema.DecodeJSON[schema.Document](row.Instructions)
		if err != nil {
			return schema.Translation{}, err
		}
		t := schema.Translation{
			Object: "translation", ID: row.ID, Status: schema.TranslationPending,
			Source:   schema.TranslationSource{Space: row.SourceSpaceID, Language: row.SourceLanguage},
			Language: row.Language, Instructions: instructions,
			CreatedAt: row.CreatedAt.UTC(), UpdatedAt: row.UpdatedAt.UTC(), Stats: schema.TranslationStats{Runs: row.Runs},
			Permissions: schema.TranslationPermissions{View: rights.Has(access.RightAccess), Edit: rights.Has(access.RightCreate)},
			URLs:        schema.LocationURLs{Location: v.API("orgs", row.OrganizationID, "translations", row.ID)},
		}
		if row.RunRequestedAt != nil {
			t.LastRun = &schema.TranslationRun{
				State: schema.RunQueued, Reason: noTranslator, RequestedAt: row.RunRequestedAt.UTC(),
			}
		}
		return t, nil
	}
}
