package store

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content/gitlayout"
	"github.com/octavo-docs/octavo/schema/content/merge"
	"github.com/octavo-docs/octavo/schema/content/tree"
	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/postgres"
	"github.com/octavo-docs/octavo/store/sites"
)

// GitImport is the content that an import found in a repository.
type GitImport struct {
	GitOutcome
	Base GitBase
	// Pages has all pages that the space has after the import: the pages of the repository, and other pages that stay.
	// Their documents must already be stored: see KeepDocuments.
	Pages []tree.Node
	Files map[string]gitlayout.Synced
	// Redirects has the ids of target pages, by old path.
	Redirects map[string]string
	// Assets are files that the import adds to the space.
	Assets []GitAsset
	// Removed are files of the space that were removed from the repository. The import removes them from the space,
	// except files to which a page refers.
	Removed []string
	// Progress is called with the number of stored assets and the number of all assets.
	Progress func(done, total int)
	// Conflicts names the changes that conflict, if an earlier attempt found conflicts. The import then becomes a
	// change request.
	Conflicts string
	// If Force is true, the repository's pages replace the space's pages without a merge. If Standalone is true, the
	// import creates a separate revision and does not change the space.
	Force, Standalone bool
	// Permit decides whether the operation's author may still import.
	Permit Permit
}

// ErrGitForbidden ends the run of an operation whose author has lost the right to it.
var ErrGitForbidden = errors.New("the author of the operation has lost the right to it")

// KeepDocuments stores documents. The caller must store documents before it stores a revision that refers to them.
func (s *Store) KeepDocuments(ctx context.Context, spaceID string, documents []Document) error {
	return insertDocuments(ctx, s.db.Queries, spaceID, documents)
}

// ImportGit brings the imported content into the space. If merge rules restrict the user, the content goes into a
// change request (gitWay). If the space has not changed since the last synchronization, or if the import is forced, the
// repository's pages replace the space's pages. Otherwise ImportGit merges both sides. If the sides conflict, it
// returns a GitConflict. The caller then calls ImportGit again with in.Conflicts set, and the import becomes a change
// request.
//
// Editors wait while the space is locked. So ImportGit stores the files before it locks the space. It also uses the
// pages that were read before the lock. It reads pages again only if the space has changed since then.
func (s *Store) ImportGit(ctx context.Context, in GitImport) error {
	i := gitImporter{store: s, ctx: ctx, in: in}
	err := i.load()
	if err == nil {
		err = s.db.InTx(ctx, func(_ pgx.Tx, q *db.Queries) error { return i.run(q) })
	}
	if err == nil || len(i.loaded) == 0 {
		return err
	}
	// The files of a failed import are deleted. Otherwise they would count toward the quota although no revision uses
	// them.
	cleaning, cancel := context.WithTimeout(context.WithoutCancel(ctx), gitCleaning)
	defer cancel()
	return errors.Join(err, i.unload(cleaning))
}

func (i *gitImporter) run(q *db.Queries) error {
	s, ctx, in := i.store, i.ctx, i.in
	space, err := q.LockSpace(ctx, in.Operation.SpaceID)
	if err != nil {
		return postgres.Interpret(err, "space")
	}
	head, err := revision(ctx, q, space.ID, space.Revision)
	if err != nil {
		return err
	}
	i.q, i.space, i.head = q, space, head
	if o, err := q.LockGitOperation(ctx, in.Operation.ID); err != nil || o.State == schema.GitCancelled {
		return errors.Join(postgres.Interpret(err, "git operation"), ErrGitCancelled)
	}
	author, err := spaceAuthor(ctx, q, space.ID, in.Operation.CreatedBy)
	if err != nil {
		return err
	}
	if in.Permit == nil || !in.Permit(author) {
		return ErrGitForbidden
	}
	if i.way, err = wayOfImport(ctx, q, space, in.Operation, in.Base.remote, in.Conflicts != ""); err != nil {
		return err
	}
	if !i.way.same(in.Base.way) {
		return ErrGitMoved
	}
	i.in.Operation.AllowedBy = i.way.allowedBy
	switch {
	case in.Standalone:
		err = i.alone()
	case i.way.proposes:
		err = i.propose()
	case in.Force, in.Base.revision == head.ID, in.Base.revision == "" && head.PageCount == 0:
		err = i.take()
	default:
		err = i.merge()
	}
	if err != nil {
		return err
	}
	return s.db.Within(ctx, q, postgres.QuotaFileBytes, space.OrganizationID)
}

type gitImporter struct {
	store *Store
	ctx   context.Context
	q     *db.Queries
	in    GitImport
	space Space
	head  Revision
	way   gitWay
	// changed has the import's changes of the main content.
	changed tree.Changed
	// loaded has the files whose bytes load has stored.
	loaded []db.InsertFileParams
}

// alone stores the imported pages as a revision on a separate branch. The import is not recorded as a synchronization.
func (i *gitImporter) alone() error {
	after, err := nextOf(i.ctx, i.q, i.in.Operation.ID, i.head)
	if err != nil {
		return err
	}
	id, err := i.write(after, i.head, true)
	if err != nil {
		return err
	}
	return finishGit(i.ctx, i.q, i.in.GitOutcome, id)
}

// take replaces the pages of the space by the pages of the repository.
func (i *gitImporter) take() error {
	after := Revision{SpaceID: i.space.ID, Branch: i.space.ID, Seq: i.head.Seq + 1, Parents: []string{i.head.ID}}
	id, err := i.write(after, i.head, true)
	if err != nil {
		return err
	}
	return i.finish(id, id)
}

// merge merges the pages of the repository and the space. It also stores Git's state before the merge, as a revision of
// the synchronization's branch.
func (i *gitImporter) merge() error {
	ctx, q, in := i.ctx, i.q, i.in
	base, err := i.base()
	if err != nil {
		return err
	}
	theirs, err := i.state(base)
	if err != nil {
		return err
	}
	result, made, err := mergeAll(ctx, q, [3]Revision{base, i.head, theirs})
	if err != nil {
		return err
	}
	switch open := merge.Open(result.Conflicts); {
	case len(open) == 0:
	case in.Operation.CreatedBy == nil: // a change request needs an author, so the import is refused
		return i.refuse("the space", "retry, or import", open)
	default:
		return &GitConflict{gitConflicts("the space", open, in.Pages, in.Base.Pages)}
	}
	if err := insertDocuments(ctx, q, i.space.ID, made); err != nil {
		return err
	}
	after := Revision{
		SpaceID: i.space.ID, Branch: i.space.ID, Seq: i.head.Seq + 1, Type: RevisionEdits,
		Parents: []string{i.head.ID, theirs.ID}, CreatedBy: in.Operation.CreatedBy,
	}
	merged := tree.Changed{Put: result.Write, Gone: result.Delete, Size: result.Count}
	i.changed = merged
	if merged.None() && len(in.Assets) == 0 {
		unnamed, err := i.unnamed(i.head.ID)
		if err != nil {
			return err
		}
		if len(unnamed) == 0 {
			return i.finish(i.head.ID, theirs.ID)
		}
	}
	head, err := insertContent(ctx, q, after, merged)
	if err != nil {
		return err
	}
	if err := i.files(after, head); err != nil {
		return err
	}
	return i.finish(head, theirs.ID)
}

// state stores the pages of the repository as a revision of the synchronization's branch, after the revision `base`.
// The branch has only the differences from `base`. If `base` is on a third branch, the branch has the differences from
// the space's newest revision.
func (i *gitImporter) state(base Revision) (Revision, error) {
	ctx, q, branch := i.ctx, i.q, i.in.Base.id
	before := base
	if base.Branch != branch && base.Branch != i.space.ID {
		before = i.head
	}
	next, err := nextOf(ctx, q, branch, before)
	if err != nil {
		return Revision{}, err
	}
	if before.Branch != branch { // the page rows of the branch are differences from an older base, so they end
		if err := q.EndBranch(ctx, db.EndBranchParams{Branch: branch, Seq: next.Seq}); err != nil {
			return Revision{}, postgres.Interpret(err, "pages")
		}
	}
	id, err := i.write(next, before, false)
	if err != nil {
		return Revision{}, err
	}
	return revision(ctx, q, i.space.ID, id)
}

// base returns the last synchronized revision. If there was no synchronization yet, it creates and returns a revision
// without pages.
func (i *gitImporter) base() (Revision, error) {
	if i.in.Base.revision != "" {
		return revision(i.ctx, i.q, i.space.ID, i.in.Base.revision)
	}
	empty := Revision{SpaceID: i.space.ID, Branch: i.in.Base.id, Seq: 1, Type: RevisionEdits, CreatedBy: i.in.Operation.CreatedBy}
	id, err := insertContent(i.ctx, i.q, empty, tree.Changed{})
	if err != nil {
		return Revision{}, err
	}
	return revision(i.ctx, i.q, i.space.ID, id)
}

// write stores the repository's pages as the new revision `after`. It writes only the differences from the revision
// `before`. If `files` is true, it also adds the imported files. It returns the id of the new revision. If nothing
// differs, it returns the id of `before`.
func (i *gitImporter) write(after, before Revision, files bool) (string, error) {
	was, err := i.pagesOf(before)
	if err != nil {
		return "", err
	}
	changed := differences(was, i.in.Pages)
	if changed.None() && before.Branch == i.space.ID && (!files || len(i.in.Assets) == 0) {
		if !files || i.in.Standalone {
			return before.ID, nil
		}
		if unnamed, err := i.unnamed(before.ID); err != nil || len(unnamed) == 0 {
			return before.ID, err
		}
	}
	after.Type, after.CreatedBy = RevisionEdits, i.in.Operation.CreatedBy
	id, err := insertContent(i.ctx, i.q, after, changed)
	if err != nil || !files {
		return id, err
	}
	i.changed = changed
	return id, i.files(after, id)
}

// unnamed returns the removed files to which no page of a revision refers.
func (i *gitImporter) unnamed(revision string) ([]string, error) {
	if len(i.in.Removed) == 0 {
		return nil, nil
	}
	ids, err := i.q.UnnamedFiles(i.ctx, db.UnnamedFilesParams{Ids: i.in.Removed, SpaceID: i.space.ID, Revision: revision})
	return ids, postgres.Interpret(err, "files")
}

// pagesOf returns the pages of a revision. If the space has not changed since the import began, it does not read them
// from the database.
func (i *gitImporter) pagesOf(r Revision) ([]tree.Node, error) {
	switch {
	case r.PageCount == 0:
		return nil, nil
	case r.ID == i.in.Base.Head:
		return i.in.Base.Pages, nil
	case r.ID == i.in.Base.revision:
		return i.in.Base.Base.Pages, nil
	}
	return pagesOf(i.ctx, i.q, i.space.ID, r.ID)
}

func differences(was, is []tree.Node) tree.Changed {
	changed := tree.Changed{Size: len(is)}
	now := make(map[string]tree.Node, len(is))
	for _, n := range is {
		now[n.ID] = n
	}
	for _, id := range tree.Differences(was, is) {
		if n, there := now[id]; there {
			changed.Put = append(changed.Put, n)
		} else {
			changed.Gone = append(changed.Gone, id)
		}
	}
	return changed
}

// finish makes the revision `head` the content of the space. It records that the revision `synced` has Git's state, and
// that the operation is done.
func (i *gitImporter) finish(head, synced string) error {
	if head != i.head.ID {
		if err := setHead(i.ctx, i.q, i.space, head); err != nil {
			return err
		}
		if err := i.store.Sites.Annotate(i.ctx, i.q, sites.ImportOccasion, sites.Happening{
			Space: i.space.ID, Title: i.space.Title, Pages: i.changed.Pages(),
			By: postgres.Deref(i.in.Operation.CreatedBy),
		}); err != nil {
			return err
		}
	}
	if err := i.supersede(); err != nil {
		return err
	}
	put := db.PutGitSyncParams{Revision: synced}
	if err := putGitSync(i.ctx, i.q, i.in.GitOutcome, i.in.Base, put, i.in.Files); err != nil {
		return err
	}
	if !i.way.proposes { // a user whom merge rules restrict can change redirects only by a change request
		if err := putGitRedirects(i.ctx, i.q, i.space.ID, i.in.Redirects); err != nil {
			return err
		}
	}
	if err := showGit(i.ctx, i.q, i.space, i.in.GitOutcome); err != nil {
		return err
	}
	return finishGit(i.ctx, i.q, i.in.GitOutcome, head)
}

// refuse returns the error for an import with conflicts. `after` is part of the message: it says how to import by
// force.
func (i *gitImporter) refuse(who, after string, open []merge.Conflict) error {
	return schema.Conflict(
		gitConflicts(
			who,
			open,
			i.in.Pages,
			i.in.Base.Pages,
		) + ": nothing was imported. Make them alike on either side " +
			"and " + after + " with force to have them as they are in the repository",
	)
}

// GitExport is the result of an export.
type GitExport struct {
	GitOutcome
	Base  GitBase
	Files map[string]gitlayout.Synced
}

// ExportedGit records that the repository has the pages of the revision that was exported.
func (s *Store) ExportedGit(ctx context.Context, out GitExport) error {
	return s.db.InTx(ctx, func(_ pgx.Tx, q *db.Queries) error {
		space, err := q.LockSpace(ctx, out.Operation.SpaceID)
		if err != nil {
			return postgres.Interpret(err, "space")
		}
		// A proposed synchronization of an archived request ends, because its base is no longer the last
		// synchronization.
		proposed, err := proposedGit(ctx, q, space.ID, out.Base.remote)
		if err != nil {
			return err
		}
		if proposed != nil {
			if err := q.DeleteGitSync(ctx, proposed.ID); err != nil {
				return postgres.Interpret(err, "git synchronization")
			}
		}
		put := db.PutGitSyncParams{Revision: out.Base.Head}
		if err := putGitSync(ctx, q, out.GitOutcome, out.Base, put, out.Files); err != nil {
			return err
		}
		if err := showGit(ctx, q, space, out.GitOutcome); err != nil {
			return err
		}
		return finishGit(ctx, q, out.GitOutcome, out.Base.Head)
	})
}
