package store

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content/gitlayout"
	"github.com/octavo-docs/octavo/schema/content/tree"
	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/postgres"
)

// GitBase is the starting point of a Git operation: an earlier synchronization of the space, and the space's current
// pages.
//
// An export starts from the last synchronization with its branch and folder. An import starts from the state of the
// repository that the space last imported. This may be a state of the operation's branch, or of another branch or
// folder that was imported later. An export to another branch or folder may be missing in the operation's branch. So
// an import starts from such an export only if the repository was never imported. If an import updates a change
// request, it starts from the content that the request's last import found, and from the request's pages.
type GitBase struct {
	gitlayout.Base
	// Commit is the commit of the earlier synchronization. It is "" if there was no such synchronization.
	Commit string
	// Known and KeepMissing are passed to [gitlayout.Tools].
	Known       map[string]gitlayout.Synced
	KeepMissing bool
	// Others are synchronizations with other branches. Synchronizations with the same repository come first. If an
	// export's branch was never synchronized, the export can start from a synchronization in this list.
	Others []GitSource
	// Organization is the space's organization.
	Organization string
	// Head is the newest revision of the space, or of the change request that the import updates. Pages are the pages
	// of this revision.
	Head  string
	Pages []tree.Node
	// revision is the revision of the pages in the embedded Base.
	revision string
	// id is the id of the synchronization with the operation's branch and folder. `remote` is the name of this branch
	// and folder.
	id, remote, folder string
	// stored has the files of the synchronization id, by path.
	stored map[string]gitlayout.Synced
	way    gitWay
}

// GitSource is a synchronization of a space with some branch.
type GitSource struct {
	// ID identifies the synchronization for GitBaseFrom.
	ID, URL, Commit string
	// Near is true if this synchronization used the same repository as the operation.
	Near bool
}

// Synchronized reports whether the space was synchronized with the operation's branch and folder before.
func (b *GitBase) Synchronized() bool { return b.stored != nil }

// GitBase reads the starting point of an operation. `proposes` is true if the import must become a change request.
func (s *Store) GitBase(ctx context.Context, o GitOperation, proposes bool) (b GitBase, err error) {
	return s.gitBase(ctx, o, proposes, "")
}

// GitBaseFrom reads the starting point of an export from one of [GitBase.Others].
func (s *Store) GitBaseFrom(ctx context.Context, o GitOperation, source GitSource) (GitBase, error) {
	return s.gitBase(ctx, o, false, source.ID)
}

func (s *Store) gitBase(ctx context.Context, o GitOperation, proposes bool, source string) (b GitBase, err error) {
	if b.remote, b.folder, err = gitRemote(o); err != nil {
		return b, err
	}
	err = s.db.InTx(ctx, func(tx pgx.Tx, q *db.Queries) error {
		// All reads use the same snapshot.
		if _, err := tx.Exec(ctx, "set transaction isolation level repeatable read, read only"); err != nil {
			return postgres.Interpret(err, "space")
		}
		space, err := q.SpaceByID(ctx, o.SpaceID)
		if err != nil {
			return postgres.Interpret(err, "space")
		}
		b.Head, b.Organization = space.Revision, space.OrganizationID
		if b.way, err = wayOfImport(ctx, q, space, o, b.remote, proposes); err != nil {
			return err
		}
		known, err := q.GitSyncs(ctx, o.SpaceID)
		if err != nil {
			return postgres.Interpret(err, "git synchronizations")
		}
		own := b.own(known)
		if b.way.updates() {
			own, b.Head = b.way.proposed, b.way.request.Revision
		}
		if b.Pages, err = pagesOf(ctx, q, o.SpaceID, b.Head); err != nil {
			return err
		}
		if own != nil {
			b.id = own.ID
			if b.stored, err = filesOfGitSync(ctx, q, own.ID); err != nil {
				return err
			}
		}
		from := own
		switch i := slices.IndexFunc(known, func(s db.GitSync) bool { return s.ID == source }); {
		case i >= 0:
			from = &known[i]
		case o.Kind == schema.GitExport:
			b.list(known, o.Url)
		case !b.way.updates():
			from = b.cameFrom(known, o.Url)
		}
		if err = b.read(ctx, q, o, from); err != nil {
			return err
		}
		switch {
		case from == nil, o.Kind == schema.GitImport && from.Remote != b.remote:
			err = b.know(ctx, q, known, o)
		case o.Kind == schema.GitExport && from == own && own.ImportedAt != nil:
			err = b.knowOutside(ctx, q, known, o)
		}
		if err != nil {
			return err
		}
		if b.id == "" || b.way.request == nil && b.way.proposes {
			b.id, b.stored = schema.NewID(), nil
		}
		return nil
	})
	return b, err
}

// own returns the synchronization with the operation's branch and folder, or nil.
func (b *GitBase) own(known []db.GitSync) *db.GitSync {
	if i := slices.IndexFunc(known, func(s db.GitSync) bool { return s.Remote == b.remote }); i >= 0 {
		return &known[i]
	}
	return nil
}

// cameFrom returns the synchronization that is the starting point of an import. `known` is sorted, with the latest
// synchronization first.
func (b *GitBase) cameFrom(known []db.GitSync, address string) (from *db.GitSync) {
	var at time.Time
	for i := range known {
		s := &known[i]
		switch {
		case s.Remote == b.remote && s.SyncedAt.After(at):
			from, at = s, s.SyncedAt
		case s.ImportedAt != nil && s.ImportedAt.After(at) && schema.SameRepository(s.Url, address):
			from, at = s, *s.ImportedAt
		}
	}
	if from != nil {
		return from
	}
	i := slices.IndexFunc(known, func(s db.GitSync) bool { return schema.SameRepository(s.Url, address) })
	if i < 0 {
		return nil
	}
	b.KeepMissing = true
	return &known[i]
}

// list sets Others to the possible starting points of an export. Synchronizations with the same repository come first,
// then imports before exports, then later synchronizations before earlier ones.
func (b *GitBase) list(known []db.GitSync, address string) {
	rank := func(s db.GitSync) (rank int) {
		if !schema.SameRepository(s.Url, address) {
			rank = 2
		}
		if s.ImportedAt == nil {
			rank++
		}
		return rank
	}
	known = slices.Clone(known)
	slices.SortStableFunc(known, func(x, y db.GitSync) int { return rank(x) - rank(y) })
	for _, s := range known {
		b.Others = append(b.Others, GitSource{s.ID, s.Url, s.CommitHash, rank(s) < 2})
	}
}

// read reads the pages and the files of the synchronization `from`. If an import starts from another branch or folder,
// read reads the last imported revision. If the folder differs, `read` drops entries without a file, because they
// belong to the table of contents of the other folder.
func (b *GitBase) read(ctx context.Context, q *db.Queries, o GitOperation, from *db.GitSync) (err error) {
	if from == nil {
		return nil
	}
	b.Commit, b.revision = from.CommitHash, from.Revision
	elsewhere := from.Remote != b.remote
	exported := false
	if elsewhere && o.Kind == schema.GitImport && from.ImportedRevision != nil {
		exported = b.revision != *from.ImportedRevision
		b.revision = *from.ImportedRevision
	}
	if b.Base.Pages, err = pagesOf(ctx, q, o.SpaceID, b.revision); err != nil {
		return err
	}
	if b.Files = b.stored; from.ID != b.id {
		if b.Files, err = filesOfGitSync(ctx, q, from.ID); err != nil {
			return err
		}
	}
	if elsewhere && from.Folder != b.folder {
		b.Files = gitlayout.WithoutEntries(b.Files)
		if o.Kind == schema.GitExport && b.folder != "" { // the export does not touch files outside of its folder
			maps.DeleteFunc(b.Files, func(name string, _ gitlayout.Synced) bool {
				return !strings.HasPrefix(name, b.folder+"/")
			})
		}
	}
	if exported { // the files are of a later export than the pages, so the import reads all files again
		b.Files = gitlayout.Unread(b.Files)
	}
	return nil
}

func filesOfGitSync(ctx context.Context, q *db.Queries, id string) (map[string]gitlayout.Synced, error) {
	rows, err := q.GitSyncFiles(ctx, id)
	files := make(map[string]gitlayout.Synced, len(rows))
	for _, f := range rows {
		files[f.Path] = gitlayout.Synced{Blob: f.Blob, Page: f.PageID, File: f.FileID}
	}
	return files, postgres.Interpret(err, "git synchronization")
}

// mostKnown is the largest number of synchronizations whose files are read.
const mostKnown = 20

// know sets Known to the files and pages at the paths of earlier synchronizations. Synchronizations with the
// operation's branch come first, then synchronizations with the operation's repository, then all other
// synchronizations.
func (b *GitBase) know(ctx context.Context, q *db.Queries, known []db.GitSync, o GitOperation) error {
	rank := func(s db.GitSync) int {
		switch {
		case s.Remote == b.remote:
			return 0
		case schema.SameRepository(s.Url, o.Url):
			return 1
		}
		return 2
	}
	known = slices.Clone(known)
	slices.SortStableFunc(known, func(x, y db.GitSync) int { return rank(x) - rank(y) })
	var of db.GitFilesOfSyncsParams
	for _, s := range known[:min(len(known), mostKnown)] {
		if of.Ids = append(of.Ids, s.ID); rank(s) < 2 && s.Folder == b.folder {
			of.Keyed = append(of.Keyed, s.ID)
		}
	}
	if of.Ids == nil {
		return nil
	}
	rows, err := q.GitFilesOfSyncs(ctx, of)
	if err != nil {
		return postgres.Interpret(err, "git synchronizations")
	}
	files, err := q.FilesOfRevision(ctx, db.FilesOfRevisionParams{SpaceID: o.SpaceID, Revision: b.Head})
	if err != nil {
		return postgres.Interpret(err, "files")
	}
	there := make(map[string]bool, len(files))
	for _, f := range files {
		there[f.FileID] = true
	}
	b.Known = make(map[string]gitlayout.Synced, len(rows))
	for _, f := range rows {
		if f.FileID == "" || there[f.FileID] { // a file that the space no longer has must be added again
			b.Known[f.Path] = gitlayout.Synced{Blob: f.Blob, Page: f.PageID, File: f.FileID}
		}
	}
	return nil
}

// knowOutside sets Known to the pages in folders of the repository outside of an export's folder. The export does not
// move these pages.
func (b *GitBase) knowOutside(ctx context.Context, q *db.Queries, known []db.GitSync, o GitOperation) error {
	if b.folder == "" {
		return nil
	}
	b.Known = map[string]gitlayout.Synced{}
	for _, s := range known[:min(len(known), mostKnown)] {
		if s.Folder == b.folder || !schema.SameRepository(s.Url, o.Url) {
			continue
		}
		files, err := filesOfGitSync(ctx, q, s.ID)
		if err != nil {
			return err
		}
		for name, f := range files {
			if _, there := b.Known[name]; !there && f.Page != "" && !strings.HasPrefix(name, b.folder+"/") {
				b.Known[name] = f
			}
		}
	}
	return nil
}
