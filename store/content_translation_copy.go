package store

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content/merge"
	"github.com/octavo-docs/octavo/schema/content/tree"
	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/postgres"
)

// TranslatedSpace is the result of a run for a space.
type TranslatedSpace struct {
	// Title is the title of a new copy.
	Title string
	// Pages are the pages of the copy, under the ids of their sources. Their documents are stored.
	Pages []tree.Node
	// Files are the files of the source that the pages name.
	Files       []string
	Contents    []TranslatedContent
	Corrections []Correction

	reports []schema.TranslationReport
	// reported is the number of reports, including the reports that are not kept.
	reported int
}

// TranslatedContent is the file of a reusable content, made from the source's content.
type TranslatedContent struct {
	ID, Source string
	Content    []byte
}

// Report adds a report for people. The first maxReports reports are stored. Further reports are only counted.
func (t *TranslatedSpace) Report(r schema.TranslationReport) {
	if t.reported++; len(t.reports) < maxReports {
		t.reports = append(t.reports, r)
	}
}

// Limits of the stored rows of runs.
const (
	maxReports      = 1000
	translationRuns = 100
)

// FinishTranslationRun makes a run's translation the content of the copy, and creates the copy first if it does not
// exist. make gets a function that stores documents of the copy.
//
// The copy follows its source, but people's changes in the copy stay. The two sides are merged, like Git and a space.
// If people and the source have changed the same part differently, the people's version stays. But if the source has
// deleted content, it is also deleted in the copy.
func (s *Store) FinishTranslationRun(
	ctx context.Context, run string, b TranslationBase, make func(put func([]Document) error) (TranslatedSpace, error),
) error {
	c := copier{store: s, ctx: ctx, base: b}
	if b.Copied {
		// Editors wait while the copy is locked, so its documents are stored before the lock.
		var err error
		if c.made, err = make(func(d []Document) error { return s.KeepDocuments(ctx, b.CopyID, d) }); err != nil {
			return err
		}
	}
	err := s.db.InTx(ctx, func(_ pgx.Tx, q *db.Queries) (err error) {
		c.q = q
		if !b.Copied {
			// Documents can be stored before the space exists. So changes of the source or of the organization's
			// structure do not have to wait for this.
			if c.made, err = make(func(d []Document) error { return insertDocuments(ctx, q, b.CopyID, d) }); err != nil {
				return err
			}
		}
		if err := c.lock(run); err != nil {
			return err
		}
		if !b.Copied {
			if err := c.create(); err != nil {
				return err
			}
		}
		if err := c.write(); err != nil {
			return err
		}
		return c.finish(run)
	})
	if errors.Is(err, errRunDone) {
		return nil
	}
	return err
}

// errRunDone rolls back an attempt's work if the run is already done. Another attempt, which had counted as lost, has
// finished the run.
var errRunDone = &schema.Error{Code: schema.CodeConflict, Message: "the run is done"}

// copier brings a copy up to date in one transaction.
type copier struct {
	store *Store
	ctx   context.Context
	q     *db.Queries
	base  TranslationBase
	made  TranslatedSpace

	space Space
	head  Revision
	// after is the copy's current revision. state is the revision with the pages that the run made. pages is the number
	// of pages that the run has changed.
	after, state string
	pages        int
}

// create makes the copy next to its source, for the users who see the source.
func (c *copier) create() error {
	source := c.base.Space
	position, err := takePlace(c.ctx, c.q, source.OrganizationID, source.ParentID, 0)
	if err != nil {
		return err
	}
	language := c.base.Translation.Language
	row, err := c.q.InsertSpace(c.ctx, db.InsertSpaceParams{
		ID: c.base.CopyID, OrganizationID: source.OrganizationID, ParentID: source.ParentID, Position: position,
		Title: c.made.Title, Emoji: source.Emoji, EditMode: source.EditMode, Language: &language, Revision: schema.NewID(),
	})
	if err != nil {
		return postgres.Interpret(err, "space")
	}
	err = c.q.InsertRevision(c.ctx, db.InsertRevisionParams{
		ID: row.Revision, SpaceID: row.ID, Branch: row.ID, Seq: 1, Type: RevisionEdits, Parents: []string{},
	})
	if err != nil {
		return postgres.Interpret(err, "revision")
	}
	if err := c.q.CopySpaceSettings(c.ctx, db.CopySpaceSettingsParams{Source: source.ID, Copied: row.ID}); err != nil {
		return postgres.Interpret(err, "space")
	}
	if err := c.q.CopySpaceGrants(c.ctx, db.CopySpaceGrantsParams{Source: source.ID, Copied: row.ID}); err != nil {
		return postgres.Interpret(err, "grant")
	}
	return c.store.db.Within(c.ctx, c.q, postgres.QuotaSpaces, source.OrganizationID)
}

// lock locks the copy, the translation and the run, in the same order as the deletion of a space.
func (c *copier) lock(run string) (err error) {
	if c.base.Copied {
		if c.space, err = c.q.LockSpace(c.ctx, c.base.CopyID); err != nil {
			return postgres.Interpret(err, "translated space")
		}
	}
	t, err := c.q.LockTranslation(c.ctx, c.base.Translation.ID)
	if err != nil {
		return postgres.Interpret(err, "translation")
	}
	row, err := c.q.LockTranslationRun(c.ctx, run)
	if err != nil {
		return postgres.Interpret(err, "translation run")
	}
	if row.State == schema.RunDone {
		return errRunDone
	}
	if schema.Or(t.MadeRevision, "") != schema.Or(c.base.Translation.MadeRevision, "") {
		// The error is not a conflict, because a job does not retry a conflict.
		return &schema.Error{Code: schema.CodeUnavailable, Message: "another run has changed the translated space: this one is tried again"}
	}
	return nil
}

func (c *copier) write() (err error) {
	if c.space, err = c.q.LockSpace(c.ctx, c.base.CopyID); err != nil {
		return postgres.Interpret(err, "translated space")
	}
	if c.space.OrganizationID != c.base.Translation.OrganizationID {
		return schema.Conflict("the translated space belongs to another organization now: delete the translation, and create one anew")
	}
	if c.head, err = revision(c.ctx, c.q, c.space.ID, c.space.Revision); err != nil {
		return err
	}
	now := time.Now().UTC().Truncate(time.Millisecond)
	changed := differences(c.base.Made, c.made.Pages)
	for i := range changed.Put {
		changed.Put[i].UpdatedAt = now
	}
	state := schema.Or(c.base.Translation.MadeRevision, "")
	if !c.base.Copied {
		state = c.head.ID
	}
	switch {
	case changed.None():
		c.after, c.state = c.head.ID, state
		return nil
	case state == c.head.ID:
		c.pages = len(changed.Put)
		c.after, err = c.put(Revision{Parents: []string{c.head.ID}}, changed)
		c.state = c.after
		return err
	}
	return c.merge(state, changed)
}

// put makes a revision the content of the copy, with the files that it names.
func (c *copier) put(after Revision, changed tree.Changed) (string, error) {
	after.SpaceID, after.Branch, after.Seq, after.Type = c.space.ID, c.space.ID, c.head.Seq+1, RevisionEdits
	id, err := insertContent(c.ctx, c.q, after, changed)
	if err != nil {
		return "", err
	}
	if err := c.files(after); err != nil {
		return "", err
	}
	return id, setHead(c.ctx, c.q, c.space, id)
}

func (c *copier) files(after Revision) error {
	there, err := c.q.FilesOfRevision(c.ctx, db.FilesOfRevisionParams{SpaceID: c.space.ID, Revision: c.head.ID})
	if err != nil {
		return postgres.Interpret(err, "files")
	}
	has := map[string]bool{}
	for _, file := range there {
		has[file.FileID] = true
	}
	wanted := slices.DeleteFunc(slices.Clone(c.made.Files), func(id string) bool { return has[id] })
	contents := slices.DeleteFunc(slices.Clone(c.made.Contents), func(content TranslatedContent) bool { return has[content.ID] })
	if len(wanted) == 0 && len(contents) == 0 {
		return nil
	}
	for _, content := range contents {
		if err := c.content(after, content); err != nil {
			return err
		}
	}
	err = c.q.CopyFiles(c.ctx, db.CopyFilesParams{
		Source: c.base.Space.ID, Revision: c.base.Space.Revision, Copied: c.space.ID, Since: after.Seq, Ids: wanted,
	})
	if err != nil {
		return postgres.Interpret(err, "files")
	}
	return c.store.db.Within(c.ctx, c.q, postgres.QuotaFileBytes, c.space.OrganizationID)
}

// content makes a translated reusable content a file of the copy.
func (c *copier) content(after Revision, made TranslatedContent) error {
	hash, err := insertFileContent(c.ctx, c.q, c.space.ID, made.Content)
	if err != nil {
		return err
	}
	return postgres.Interpret(c.q.CopyFileAs(c.ctx, db.CopyFileAsParams{
		Source: c.base.Space.ID, Revision: c.base.Space.Revision, FileID: made.Source,
		Copied: c.space.ID, Since: after.Seq, ID: made.ID, Size: int64(len(made.Content)), Hash: hash,
	}), "file")
}

// merge merges the run's pages and the people's changes of the copy. The run's own state becomes a revision of the
// translation's branch.
func (c *copier) merge(state string, changed tree.Changed) error {
	ctx, q := c.ctx, c.q
	base, err := revision(ctx, q, c.space.ID, state)
	if err != nil {
		return err
	}
	branch := c.base.Translation.ID
	next, err := nextOf(ctx, q, branch, base)
	if err != nil {
		return err
	}
	if base.Branch != branch { // the branch's rows are relative to an older base
		if err := q.EndBranch(ctx, db.EndBranchParams{Branch: branch, Seq: next.Seq}); err != nil {
			return postgres.Interpret(err, "pages")
		}
	}
	next.Type = RevisionEdits
	if c.state, err = insertContent(ctx, q, next, changed); err != nil {
		return err
	}
	theirs, err := revision(ctx, q, c.space.ID, c.state)
	if err != nil {
		return err
	}
	m, err := between(ctx, q, [3]Revision{base, c.head, theirs})
	if err != nil {
		return err
	}
	result, made, err := m.with(ctx, q, nil)
	if err != nil {
		return err
	}
	if choices := c.gone(m, result.Conflicts); len(choices) > 0 {
		if result, made, err = m.with(ctx, q, choices); err != nil {
			return err
		}
	}
	c.report(result.Conflicts)
	if err := insertDocuments(ctx, q, c.space.ID, made); err != nil {
		return err
	}
	merged := tree.Changed{Put: result.Write, Gone: result.Delete, Size: result.Count}
	if merged.None() {
		c.after = c.head.ID
		return nil
	}
	c.pages = len(merged.Put)
	c.after, err = c.put(Revision{Parents: []string{c.head.ID, c.state}}, merged)
	return err
}

// gone resolves conflicts about pages that were deleted in the source and corrected in the copy. It chooses the
// source's side, except if people added a page below the deleted page.
func (c *copier) gone(m *threeWay, conflicts []merge.Conflict) merge.Choices {
	choices := merge.Choices{}
	for _, conflict := range merge.Open(conflicts) {
		if conflict.Kind != merge.KindDelete || conflict.Theirs != nil {
			continue
		}
		if slices.ContainsFunc(conflict.Pages, func(id string) bool { _, made := m.sides[0].Page(id); return !made }) {
			continue
		}
		choices[conflict.ID] = merge.Choice{Take: merge.TakeTheirs}
	}
	return choices
}

// report reports the conflicts that were merged in favor of one side.
func (c *copier) report(conflicts []merge.Conflict) {
	for _, conflict := range conflicts {
		r := schema.TranslationReport{Kind: schema.ReportConflict, Page: conflict.Page, Segment: conflict.Block}
		switch {
		case conflict.Choice != nil:
			r.Kind = schema.ReportCorrectionRemoved
		case conflict.Kind == merge.KindEdit:
			r.Kind = schema.ReportCorrectionOutdated
		}
		if r.Page == "" && len(conflict.Pages) > 0 {
			r.Page = conflict.Pages[0]
		}
		c.made.Report(r)
	}
}

// finish records the end of a run.
func (c *copier) finish(run string) error {
	ctx, q, t := c.ctx, c.q, c.base.Translation
	reports, err := postgres.ToJSON(postgres.NotNil(c.made.reports))
	if err != nil {
		return err
	}
	done, err := q.FinishTranslationRun(ctx, db.FinishTranslationRunParams{
		ID: run, Pages: int64(c.pages), Revision: &c.after, Reports: reports, ReportCount: int64(c.made.reported),
	})
	if err != nil {
		return postgres.Interpret(err, "translation run")
	}
	err = q.FinishTranslation(ctx, db.FinishTranslationParams{
		ID: t.ID, ResultSpaceID: &c.space.ID, ResultRevision: &c.after, MadeRevision: &c.state, SourceRevision: &c.base.Space.Revision,
		Words: done.Words, Pages: int64(c.pages), Milliseconds: done.Milliseconds,
	})
	if err != nil {
		return postgres.Interpret(err, "translation")
	}
	if err := q.DropOldTranslationRuns(ctx, db.DropOldTranslationRunsParams{TranslationID: t.ID, Kept: translationRuns}); err != nil {
		return postgres.Interpret(err, "translation runs")
	}
	unused := db.DropUnusedSegmentsParams{TranslationID: t.ID, Kept: postgres.Interval(unusedSegmentsKept)}
	if err := q.DropUnusedSegments(ctx, unused); err != nil {
		return postgres.Interpret(err, "translation")
	}
	if err := q.DropCorrections(ctx, t.ID); err != nil {
		return postgres.Interpret(err, "corrections")
	}
	insert := db.InsertCorrectionsParams{TranslationID: t.ID}
	for _, correction := range c.made.Corrections {
		insert.Pages, insert.Segments = append(insert.Pages, correction.Page), append(insert.Segments, correction.Segment)
		insert.Targets, insert.Sources = append(insert.Targets, correction.Target), append(insert.Sources, correction.Source)
	}
	if len(insert.Pages) == 0 {
		return nil
	}
	return postgres.Interpret(q.InsertCorrections(ctx, insert), "corrections")
}
