package jobs

import (
	"context"
	"errors"
	"mime"
	"path"

	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/api/remote/gitsync"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content/gitlayout"
	"github.com/octavo-docs/octavo/store"
)

// maxGitMoves is the largest number of attempts of an import. An attempt is repeated if the space's merge rules or the
// import's change request have changed meanwhile.
const maxGitMoves = 5

// importRepository imports the files of a branch as pages, into the space or into a change request.
func (g *gitRun) importRepository(ctx context.Context) (err error) {
	g.progress.at(schema.GitFetching, 0, 0)
	snapshot, err := g.deps.Git.Fetch(ctx, g.remote)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, snapshot.Close()) }()
	layout, err := g.layout(snapshot)
	if err != nil {
		return err
	}
	conflicts := ""
	for range maxGitMoves {
		err = g.importLayout(ctx, snapshot, layout, conflicts)
		if found, ok := errors.AsType[*store.GitConflict](err); ok {
			conflicts = found.Text
		} else if !errors.Is(err, store.ErrGitMoved) {
			return err
		}
		if g.base, err = g.deps.Store.GitBase(ctx, g.operation, conflicts != ""); err != nil {
			return err
		}
	}
	return schema.Conflict("the merge rules or the change request of the import keep changing: try again")
}

// importLayout imports the fetched files. conflicts is the text about the conflicts that an earlier attempt found, or
// "".
func (g *gitRun) importLayout(
	ctx context.Context, snapshot *gitsync.Snapshot, layout *gitlayout.Layout, conflicts string,
) error {
	force, standalone := schema.Or(g.parameters.Force, false), schema.Or(g.parameters.Standalone, false)
	tools := g.tools(ctx)
	tools.Known, tools.KeepMissing, tools.Alone = g.base.Known, g.base.KeepMissing, force || standalone
	content, err := layout.Import(g.base.Base, tools)
	if err != nil {
		return err
	}
	if err := g.keep(ctx, 0); err != nil {
		return err
	}
	if len(content.Pages) == 0 && !force {
		return schema.Conflict("the repository has no page: no Markdown file below " + folderName(layout.Root) + " (force imports it all the same)")
	}
	left := len(g.notes)
	for _, note := range content.Notes {
		g.note(note.Path, note.Text)
	}
	in := store.GitImport{
		GitOutcome: g.outcome(snapshot.Commit), Base: g.base, Pages: append(content.Pages, content.Beside...),
		Files: content.Synced, Redirects: content.Redirects, Removed: content.Removed,
		Force: force, Standalone: standalone, Conflicts: conflicts, Permit: access.SynchronizingGit().Permits,
		Progress: func(done, total int) { g.progress.at(schema.GitFiles, done, total) },
	}
	g.notes = g.notes[:left:left]
	for _, asset := range content.Assets {
		in.Assets = append(in.Assets, gitAsset(snapshot, g.files[asset.Path], asset.ID))
	}
	return g.deps.Store.ImportGit(ctx, in)
}

func folderName(root string) string {
	if root == "" {
		return "its root"
	}
	return plainLine(root)
}

// maxFileName is the largest length of a file's name in characters, as in the API.
const maxFileName = 256

func gitAsset(snapshot *gitsync.Snapshot, file gitsync.File, id string) store.GitAsset {
	name := []rune(path.Base(file.Path))
	media := mime.TypeByExtension(path.Ext(file.Path))
	if media == "" || len(media) > 128 {
		media = "application/octet-stream"
	}
	return store.GitAsset{
		ID: id, Name: string(name[max(0, len(name)-maxFileName):]), ContentType: media,
		Load: func() ([]byte, error) { return snapshot.Read(file) },
	}
}
