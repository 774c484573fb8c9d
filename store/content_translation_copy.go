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

// TranslatedSpace is the result of a translation run for a space.
type TranslatedSpace struct {
	// Title is the title of the translated copy. It is used only if the run creates the copy.
	Title string
	// Pages are the translated pages. They have the ids of the source's pages. Their documents are already stored.
	Pages []tree.Node
	// Files are the ids of the source's files to which the pages refer.
	Files       []string
	Contents    []TranslatedContent
	Corrections []Correction

	reports []schema.TranslationReport
	// reported is the number of all reports, including reports that are not stored.
	reported int
}

// TranslatedContent is a translated reusable content. ID is the id of its file in the translated copy, and Source is
// the id of its file in the source space.
type TranslatedContent struct {
	ID, Source string
	Content    []byte
}

// Report adds a report for users. Only the first maxReports reports are stored. Further reports are only counted.
func (t *TranslatedSpace) Report(r schema.TranslationReport) {
	if t.reported++; len(t.reports) < maxReports {
		t.reports = append(t.reports, r)
	}
}

// maxReports is the largest number of stored reports of a run. translationRuns is the largest number of stored runs of
// a translation.
const (
	maxReports      = 1000
	translationRuns = 100
)

// FinishTranslationRun writes a run's translation into the translated copy of the source space. It first creates the
// copy if it does not exist. It calls `make` to get the translation. The function `make` stores the documents of the
// copy with its parameter `put`.
//
// The copy follows its source, but changes that users make in the copy stay. So the run's translation is merged with
// the copy, as an import is merged with a space. If users and the source have changed the same part differently, the
// users' version stays. If the source has deleted a page, the page is deleted in the copy too.
func (s *Store) FinishTranslationRun(
	ctx context.Context, run string, b TranslationBase, make func(put func([]Document) error) (TranslatedSpace, error),
) error {
	c := copier{store: s, ctx: ctx, base: b}
	if b.Copied {
		// Users who edit the translated copy wait while it is locked. So the documents are stored before the lock.
		var err error
		if c.made, err = make(func(d []Document) error { return s.KeepDocuments(ctx, b.CopyID, d) }); err != nil {
			return err
		}
	}
	err := s.db.InTx(ctx, func(_ pgx.Tx, q *db.Queries) (err error) {
		c.q = q
		if !b.Copied {
			// Documents can be stored before their space exists. So they are stored before the locks, and no other
			// transaction waits for this step.
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

// errRunDone rolls back the work of an attempt if another attempt has already finished the run. Two attempts run at
// the same time if the other attempt was wrongly considered lost.
var errRunDone = &schema.Error{Code: schema.CodeConflict, Message: "the run is done"}

// copier updates a copy in one transaction.
type copier struct {
	store *Store
	ctx   context.Context
	q     *db.Queries
	base  TranslationBase
	made  TranslatedSpace

	space Space
	head  Revision
	// after is the copy's newest revision after the run. `state` is the revision with the run's own pages, before the
	// merge. `pages` is the number of pages that the run has changed.
	after, state string
	pages        int
}

// create creates the copy in the collection of its source space. The users who see the source space also see the copy.
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

// lock locks the copy, the translation and the run. The deletion of a space locks in the same order, so that no
// deadlock occurs.
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
		// The code is not CodeConflict, because a job does not retry after a conflict.
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
	if err := c.secret(); err != nil {
		return err
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

// secret returns an error if the copy would show the source's content to a member who does not see the source. Somebody
// may have closed the source after the copy was created.
func (c *copier) secret() error {
	copied, err := c.q.ContentPath(c.ctx, c.space.ID)
	if err != nil {
		return postgres.Interpret(err, "translated space")
	}
	source, err := c.q.ContentPath(c.ctx, c.base.Space.ID)
	if err != nil {
		return postgres.Interpret(err, "space")
	}
	open, err := c.q.CopyIsMoreOpen(c.ctx, db.CopyIsMoreOpenParams{
		Copied: c.space.ID, CopiedPath: copied, Source: c.base.Space.ID, SourcePath: source,
	})
	if err != nil {
		return postgres.Interpret(err, "translated space")
	}
	if open {
		return schema.Conflict("the copy is open to more people than its source: close the translated space, too")
	}
	return nil
}

// put stores changed pages as a new revision, and makes this revision the content of the copy. It also copies the files
// to which the pages refer.
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

// content stores a translated reusable content as a file of the copy.
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

// merge merges the run's pages with the changes that users have made in the copy. It also stores the run's own pages as
// a revision of the translation's branch.
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
	if base.Branch != branch { // the branch's rows are differences from an older base, so they end
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

// gone returns choices for conflicts about pages that were deleted in the source space and changed in the copy. The
// choice is the side of the source space, so the page is deleted. If users have added a page below the deleted page,
// gone makes no choice.
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

// report adds a report for each conflict. For each conflict, the merged content already has one of the sides.
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

// finish records that a run is done.
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
