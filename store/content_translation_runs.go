package store

import (
	"cmp"
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content/tree"
	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/postgres"
)

// TranslationRun is a row of the table translation_runs.
type TranslationRun = db.TranslationRun

// RequestTranslationRun enqueues a run of a translation. If a run is already waiting, it enqueues none.
func (s *Store) RequestTranslationRun(ctx context.Context, organizationID, id string) error {
	return s.db.InTx(ctx, func(_ pgx.Tx, q *db.Queries) error {
		t, err := q.TranslationByID(ctx, db.TranslationByIDParams{ID: id, OrganizationID: organizationID})
		if err != nil {
			return postgres.Interpret(err, "translation")
		}
		return queueTranslationRun(ctx, q, t.OrganizationID, t.SourceSpaceID, id)
	})
}

func queueTranslationRun(ctx context.Context, q *db.Queries, organizationID, spaceID, translationID string) error {
	// StartTranslationRun takes the same lock. So a run that waits now starts after this transaction, and reads the
	// changes of this transaction.
	if _, err := q.LockTranslation(ctx, translationID); err != nil {
		return postgres.Interpret(err, "translation")
	}
	run := schema.NewID()
	queued, err := q.QueueTranslationRun(ctx, db.QueueTranslationRunParams{ID: run, TranslationID: translationID})
	if err != nil || queued == 0 {
		return postgres.Interpret(err, "translation")
	}
	return postgres.Enqueue(ctx, q, schema.TranslateSpace{
		Organization: organizationID, Space: spaceID, Translation: translationID, Run: run,
	})
}

// followSpace enqueues a run for each translation in `following`, because the content of the translations' source space
// has changed. Each of these translations has a copy, or its first run is creating the copy. The caller has locked the
// space.
func followSpace(ctx context.Context, q *db.Queries, space Space, following []string) error {
	for _, id := range following {
		if err := queueTranslationRun(ctx, q, space.OrganizationID, space.ID, id); err != nil {
			return err
		}
	}
	return nil
}

// StartTranslationRun records that a run has started or starts again. It returns the translation's current
// organization. `run` is false if the run is already done.
func (s *Store) StartTranslationRun(ctx context.Context, translationID, id string) (organizationID string, run bool, err error) {
	err = s.db.InTx(ctx, func(_ pgx.Tx, q *db.Queries) error {
		t, err := q.LockTranslation(ctx, translationID)
		if err != nil {
			return postgres.Interpret(err, "translation")
		}
		organizationID = t.OrganizationID
		row, err := q.LockTranslationRun(ctx, id)
		if err != nil {
			return postgres.Interpret(err, "translation run")
		}
		run = row.State != schema.RunDone
		if !run {
			return nil
		}
		return postgres.Interpret(q.StartTranslationRun(ctx, id), "translation run")
	})
	return organizationID, run, err
}

// FailTranslationRun records the reason why a run failed. The run's job may retry it. `noted` is false if the run is
// already done, or was deleted with its translation.
func (s *Store) FailTranslationRun(ctx context.Context, id, reason string) (noted bool, err error) {
	n, err := s.db.Queries.FailTranslationRun(ctx, db.FailTranslationRunParams{ID: id, Reason: reason})
	return n > 0, postgres.Interpret(err, "translation run")
}

// FailLostTranslationRuns marks runs as failed if their jobs ended without a result.
func (s *Store) FailLostTranslationRuns(ctx context.Context) error {
	return postgres.Interpret(s.db.Queries.FailLostTranslationRuns(ctx, postgres.JobLost), "translation runs")
}

// Correction is a segment of a translated copy that a user has corrected. Target is the hash of the corrected text.
// Source is the hash of the source text at the time of the correction.
type Correction struct {
	Page, Segment  string
	Target, Source string
}

// TranslationBase is the starting point of a translation run.
type TranslationBase struct {
	Translation Translation
	// Space is the source space. Pages are the pages of its newest revision.
	Space Space
	Pages []tree.Node
	// CopyID is the id of the copy, which is a space. Copied is false before the first run, when the copy does not
	// exist yet. Made are the pages that the last run made. Edited are the copy's current pages. Source are the
	// source's pages from which the last run made them.
	CopyID               string
	Copied               bool
	Made, Edited, Source []tree.Node
	Corrections          []Correction
	// Glossary has the terms of the organization.
	Glossary []GlossaryEntry

	head string
}

// TranslationBase reads the starting point of a run of a translation.
func (s *Store) TranslationBase(ctx context.Context, organizationID, id string) (b TranslationBase, err error) {
	err = s.db.InTx(ctx, func(tx pgx.Tx, q *db.Queries) error {
		// All reads use the same snapshot.
		if _, err := tx.Exec(ctx, "set transaction isolation level repeatable read, read only"); err != nil {
			return postgres.Interpret(err, "translation")
		}
		if b.Translation, err = q.TranslationByID(ctx, db.TranslationByIDParams{ID: id, OrganizationID: organizationID}); err != nil {
			return postgres.Interpret(err, "translation")
		}
		if b.Space, err = q.SpaceByID(ctx, b.Translation.SourceSpaceID); err != nil {
			return postgres.Interpret(err, "space")
		}
		if b.Pages, err = pagesOf(ctx, q, b.Space.ID, b.Space.Revision); err != nil {
			return err
		}
		if err := b.readGlossary(ctx, q); err != nil {
			return err
		}
		if b.Translation.ResultSpaceID == nil {
			b.CopyID = schema.NewID()
			return nil
		}
		return b.readCopy(ctx, q)
	})
	return b, err
}

func (b *TranslationBase) readGlossary(ctx context.Context, q *db.Queries) error {
	for after := ""; ; after = b.Glossary[len(b.Glossary)-1].ID {
		rows, err := q.ListGlossaryEntries(ctx, db.ListGlossaryEntriesParams{
			OrganizationID: b.Translation.OrganizationID, After: after, PageSize: glossaryBatch,
		})
		if err != nil {
			return postgres.Interpret(err, "glossary")
		}
		if b.Glossary = append(b.Glossary, rows...); len(rows) < glossaryBatch {
			return nil
		}
	}
}

const glossaryBatch = 1000

func (b *TranslationBase) readCopy(ctx context.Context, q *db.Queries) error {
	b.CopyID, b.Copied = *b.Translation.ResultSpaceID, true
	space, err := q.SpaceByID(ctx, b.CopyID)
	if err != nil {
		return postgres.Interpret(err, "space")
	}
	b.head = space.Revision
	if b.Edited, err = pagesOf(ctx, q, b.CopyID, b.head); err != nil {
		return err
	}
	if b.Made, err = pagesOf(ctx, q, b.CopyID, schema.Or(b.Translation.MadeRevision, "")); err != nil {
		return err
	}
	if b.Source, err = pagesOf(ctx, q, b.Space.ID, schema.Or(b.Translation.SourceRevision, "")); err != nil {
		return err
	}
	rows, err := q.Corrections(ctx, b.Translation.ID)
	for _, row := range rows {
		b.Corrections = append(b.Corrections, Correction{Page: row.PageID, Segment: row.Segment, Target: row.Target, Source: row.Source})
	}
	return postgres.Interpret(err, "corrections")
}

// Translated is a translated segment. Key identifies the source's segment, and Target is the translation. Problem is a
// note for users, or "".
type Translated struct {
	Key, Target, Problem string
}

// TranslatedSegments returns the stored translations of segments, by key. It leaves out segments that were never
// translated.
func (s *Store) TranslatedSegments(ctx context.Context, translationID string, keys []string) (map[string]Translated, error) {
	rows, err := s.db.Queries.TranslatedSegments(ctx, db.TranslatedSegmentsParams{
		TranslationID: translationID, Keys: keys,
	})
	known := make(map[string]Translated, len(rows))
	for _, row := range rows {
		known[row.Key] = Translated(row)
	}
	return known, postgres.Interpret(err, "translation")
}

// KeepTranslated stores segments that a run has translated. Each key must occur only once. `words` is the number of
// words that were sent to the translation service. KeepTranslated adds this number to the run's number of words.
func (s *Store) KeepTranslated(ctx context.Context, translationID, run string, segments []Translated, words int) error {
	keep := db.KeepTranslatedSegmentsParams{TranslationID: translationID, RunID: run, Segments: int64(len(segments)), Words: int64(words)}
	for _, t := range segments {
		keep.Keys, keep.Targets, keep.Problems = append(keep.Keys, t.Key), append(keep.Targets, t.Target), append(keep.Problems, t.Problem)
	}
	return postgres.Interpret(s.db.Queries.KeepTranslatedSegments(ctx, keep), "translation")
}

// ListTranslationRuns lists the runs of a translation without their reports, the newest first. The list begins after
// the id `after`.
func (s *Store) ListTranslationRuns(
	ctx context.Context, translationID, after string, size int,
) (postgres.Page[TranslationRun], error) {
	total, err := s.db.Queries.CountTranslationRuns(ctx, translationID)
	if err != nil {
		return postgres.Page[TranslationRun]{}, postgres.Interpret(err, "translation runs")
	}
	rows, err := s.db.Queries.ListTranslationRuns(ctx, db.ListTranslationRunsParams{
		TranslationID: translationID, Before: cmp.Or(after, postgres.LastID), PageSize: postgres.PageSize(size),
	})
	if err != nil {
		return postgres.Page[TranslationRun]{}, postgres.Interpret(err, "translation runs")
	}
	runs := make([]TranslationRun, len(rows))
	for i, r := range rows {
		runs[i] = TranslationRun{
			ID: r.ID, TranslationID: r.TranslationID, State: r.State, Reason: r.Reason, RequestedAt: r.RequestedAt, StartedAt: r.StartedAt,
			FinishedAt: r.FinishedAt, Segments: r.Segments, Words: r.Words, Pages: r.Pages, Revision: r.Revision, ReportCount: r.ReportCount,
		}
	}
	return postgres.PageOf(runs, size, total), nil
}

// TranslationRunByID reads a run of a translation with its reports.
func (s *Store) TranslationRunByID(ctx context.Context, translationID, id string) (TranslationRun, error) {
	row, err := s.db.Queries.TranslationRunByID(ctx, db.TranslationRunByIDParams{TranslationID: translationID, ID: id})
	return row, postgres.Interpret(err, "translation run")
}

// LatestRun is the last run of a translation. It also has whether any run of the translation is in progress.
type LatestRun = db.LatestTranslationRunsRow

// latestTranslationRuns returns the last run of each translation, by the translation's id.
func (s *Store) latestTranslationRuns(ctx context.Context, translations []string) (map[string]LatestRun, error) {
	rows, err := s.db.Queries.LatestTranslationRuns(ctx, translations)
	latest := make(map[string]LatestRun, len(rows))
	for _, row := range rows {
		latest[row.TranslationID] = row
	}
	return latest, postgres.Interpret(err, "translation runs")
}

// unusedSegmentsKept is the time for which translated segments are stored after no source text uses them. The same text
// may come back in this time.
const unusedSegmentsKept = 90 * 24 * time.Hour
