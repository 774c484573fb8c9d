package store

import (
	"cmp"
	"context"
	"errors"
	"path"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/schema/content/gitlayout"
	"github.com/octavo-docs/octavo/schema/content/pagelinks"
	"github.com/octavo-docs/octavo/schema/content/tree"
	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/postgres"
)

// GitPaths finds the files of a revision's pages. The files are in the repository with which the space was last
// synchronized.
type GitPaths struct {
	store                   *Store
	ctx                     context.Context
	sync, space, revisionID string
}

// GitPaths finds the last synchronization of a space with a repository. If requestID is set and the change request has
// its own import, this import is used as the last synchronization.
func (s *Store) GitPaths(ctx context.Context, spaceID, revisionID, requestID string) (GitPaths, error) {
	g := GitPaths{store: s, ctx: ctx, space: spaceID, revisionID: revisionID}
	sync, err := s.db.Queries.LastGitSync(ctx, db.LastGitSyncParams{ChangeRequestID: requestID, SpaceID: spaceID})
	if errors.Is(err, pgx.ErrNoRows) {
		return g, nil
	}
	g.sync = sync
	return g, postgres.Interpret(err, "git synchronization")
}

// Synced reports whether the space is synchronized with a repository.
func (g GitPaths) Synced() bool { return g.sync != "" }

// OfPages returns the paths of pages' files, by the page's id. It leaves out pages without a file.
func (g GitPaths) OfPages(ids []string) (map[string]string, error) {
	if !g.Synced() || len(ids) == 0 {
		return nil, nil
	}
	rows, err := g.store.db.Queries.GitPathsOfPages(g.ctx, db.GitPathsOfPagesParams{SyncID: g.sync, Pages: ids})
	paths := make(map[string]string, len(rows))
	for _, row := range rows {
		paths[row.PageID] = row.Path
	}
	return paths, postgres.Interpret(err, "git synchronization")
}

// At returns the revision's pages and files at paths of the repository, by path.
func (g GitPaths) At(paths []string) (map[string]pagelinks.Target, error) {
	if !g.Synced() || len(paths) == 0 {
		return nil, nil
	}
	rows, err := g.store.db.Queries.GitEntriesAt(g.ctx, db.GitEntriesAtParams{
		SyncID: g.sync, Paths: paths, SpaceID: g.space, Revision: g.revisionID,
	})
	targets := make(map[string]pagelinks.Target, len(rows))
	for _, row := range rows {
		targets[row.Path] = pagelinks.Target{Page: row.PageID, File: row.FileID}
	}
	return targets, postgres.Interpret(err, "git synchronization")
}

// maxRootPages is the largest number of pages that Below reads to find the folder of the content.
const maxRootPages = 1000

// Below returns the folder in which files of new pages below the page `parent` belong, and the root folder of the
// content. If `parent` is "", the new pages are at the top of the space. Each result ends with a slash, or is "".
func (g GitPaths) Below(parent string) (folder, root string, err error) {
	source := g.store.PagesIn(g.ctx, Revision{SpaceID: g.space, ID: g.revisionID})
	var up []tree.Node // the page's ancestors, from the page up to the root
	var ids []string
	for id := parent; id != ""; id = up[len(up)-1].Parent {
		n, found, err := source.Page(id)
		if err != nil || !found {
			return "", "", err
		}
		up, ids = append(up, n), append(ids, id)
	}
	first, err := source.Children("")
	if err != nil {
		return "", "", err
	}
	for _, n := range first[:min(len(first), maxRootPages)] {
		ids = append(ids, n.ID)
	}
	files, err := g.OfPages(ids)
	if err != nil {
		return "", "", err
	}
	// The root folder is the highest folder with the file of a page at the top of the space.
	var folders []string
	for _, n := range first {
		if file := files[n.ID]; file != "" {
			folders = append(folders, strings.TrimSuffix(file, path.Base(file)))
		}
	}
	if len(folders) > 0 {
		root = slices.MinFunc(folders, func(a, b string) int {
			return cmp.Compare(strings.Count(a, "/"), strings.Count(b, "/"))
		})
	}
	folder = root
	for _, n := range slices.Backward(up) {
		switch file := files[n.ID]; {
		case file != "":
			folder = gitlayout.FolderBelow(file)
		default:
			folder += gitlayout.FileName(n.Slug) + "/"
		}
	}
	return folder, root, nil
}
