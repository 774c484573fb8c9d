package view

import (
	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
)

// Translation returns a function that returns the API form of a translation. A translation without a result is pending,
// even if a run failed. Its `lastRun` shows the failure.
func (v Presenter) Translation(rights access.Rights) func(store.ShownTranslation) (schema.Translation, error) {
	return func(row store.ShownTranslation) (schema.Translation, error) {
		instructions, err := schema.DecodeJSON[schema.Document](row.Instructions)
		if err != nil {
			return schema.Translation{}, err
		}
		t := schema.Translation{
			Object: "translation", ID: row.ID, Status: schema.TranslationPending,
			Source:   schema.TranslationSource{Space: row.SourceSpaceID, Language: row.SourceLanguage},
			Language: row.Language, Instructions: instructions,
			CreatedAt: row.CreatedAt.UTC(), UpdatedAt: row.UpdatedAt.UTC(),
			Stats: schema.TranslationStats{
				Runs: row.Runs, TotalWords: row.TotalWords, TotalPages: row.TotalPages, TotalDuration: seconds(row.TotalMilliseconds),
				LatestRunDuration: seconds(row.LatestMilliseconds), LatestPages: row.LatestPages, LatestWords: row.LatestWords,
			},
			Permissions: schema.TranslationPermissions{View: rights.Has(access.RightAccess), Edit: rights.Has(access.RightCreate)},
			URLs:        schema.LocationURLs{Location: v.API("orgs", row.OrganizationID, "translations", row.ID)},
		}
		if row.Runs > 0 {
			t.Status = schema.TranslationCompleted
		}
		// The space with the translated copy may have been deleted.
		if row.ResultSpaceID != nil && row.ResultRevision != nil {
			t.Result = &schema.TranslationResult{Space: *row.ResultSpaceID, Revision: *row.ResultRevision}
		}
		if row.Latest != nil {
			t.LastRun = &schema.TranslationLastRun{State: row.Latest.State, Reason: row.Latest.Reason, RequestedAt: row.Latest.RequestedAt.UTC()}
			if row.Latest.Running {
				t.Status = schema.TranslationRunning
			}
		}
		return t, nil
	}
}

// seconds rounds up, because work that took less than a second still took time.
func seconds(milliseconds int64) int64 { return (milliseconds + 999) / 1000 }

// TranslationRun returns a function that returns the API form of a run of a translation.
func (v Presenter) TranslationRun(organizationID string) func(store.TranslationRun) (schema.TranslationRun, error) {
	return func(row store.TranslationRun) (schema.TranslationRun, error) {
		r := schema.TranslationRun{
			Object: "translation-run", ID: row.ID, State: row.State, Reason: row.Reason, RequestedAt: row.RequestedAt.UTC(),
			StartedAt: schema.UTC(row.StartedAt), FinishedAt: schema.UTC(row.FinishedAt), Segments: row.Segments, Words: row.Words, Pages: row.Pages,
			Revision: schema.Or(row.Revision, ""), ReportCount: row.ReportCount,
			URLs: schema.LocationURLs{Location: v.API("orgs", organizationID, "translations", row.TranslationID, "runs", row.ID)},
		}
		if row.StartedAt != nil && row.FinishedAt != nil {
			took := seconds(row.FinishedAt.Sub(*row.StartedAt).Milliseconds())
			r.Duration = &took
		}
		if row.Reports != nil { // Rows of a list have no reports.
			var err error
			if r.Reports, err = schema.DecodeJSON[[]schema.TranslationReport](row.Reports); err != nil {
				return schema.TranslationRun{}, err
			}
		}
		return r, nil
	}
}
