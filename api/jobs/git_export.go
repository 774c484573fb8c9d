package jobs

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/octavo-docs/octavo/api/remote/gitsync"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
)

// exportToRepository writes the pages that have changed since the last synchronization into a commit, and pushes it.
func (g *gitRun) exportToRepository(ctx context.Context) (err error) {
	if held, err := g.deps.Store.HoldGitExport(ctx, g.operation); err != nil || held {
		return err
	}
	synced := g.base.Synchronized()
	from := exportFrom{force: schema.Or(g.parameters.Force, false)}
	g.progress.at(schema.GitFetching, 0, 0)
	from.snapshot, err = g.deps.Git.Fetch(ctx, g.remote)
	defer func() { err = errors.Join(err, from.close()) }()
	switch {
	// The branch does not exist yet. The push creates it.
	case errors.Is(err, gitsync.NoRef), errors.Is(err, gitsync.EmptyRepository):
		from.snapshot = nil
		if synced && !from.force {
			return schema.Conflict(
				fmt.Sprintf("the branch was deleted in the repository after its commit %s was synchronized. "+
					"Export with force to make it again, or export to another branch", g.base.Commit),
			)
		}
		err = g.begin(ctx, &from)
	case err == nil && !synced:
		err = g.match(ctx, from.snapshot.Commit)
	}
	if err != nil {
		return err
	}
	layout, err := g.layoutOf(from)
	if err != nil {
		return err
	}
	tools := g.tools(ctx)
	tools.Known = g.base.Known
	// The repository may be public, so the export must not contain titles of other spaces. Mentions of people become
	// their names as text.
	tools.Names = func(d schema.Document) (func(ref map[string]any) string, error) {
		return g.deps.Store.Names(ctx, store.Sight{}, g.operation.SpaceID, g.base.Head, d)
	}
	export, err := layout.Export(g.base.Base, g.base.Pages, tools, g.uploads(ctx), from.force || from.whole)
	if err != nil {
		return err
	}
	if len(export.Moved) > 0 && !from.force && !from.whole {
		return movedError(export.Moved, synced)
	}
	for _, note := range export.Notes {
		g.note(note.Path, note.Text)
	}
	commit := gitsync.Commit{
		Parent: from.snapshot, NewBranch: from.newBranch, Message: schema.Or(g.parameters.CommitMessage, "Export"),
		Name: committerName, Email: committerEmail, At: g.now, Force: from.force,
	}
	for _, change := range export.Changes {
		commit.Changes = append(commit.Changes, gitsync.Change{Path: change.Path, Delete: change.Delete, Content: change.Content})
	}
	if from.copied != nil {
		if commit.Changes, err = g.copied(from, commit.Changes); err != nil {
			return err
		}
	}
	if err := g.permitted(ctx); err != nil {
		return err
	}
	// After this point, nobody can cancel the operation, because the repository may already have the commit.
	g.progress.at(schema.GitPushing, 0, len(commit.Changes))
	if err := g.look(ctx); err != nil {
		return err
	}
	hash, err := g.push(ctx, from, commit)
	if err != nil {
		return err
	}
	g.progress.at(schema.GitPushing, len(commit.Changes), len(commit.Changes))
	return g.deps.Store.ExportedGit(ctx, store.GitExport{GitOutcome: g.outcome(hash), Base: g.base, Files: export.Synced})
}

// These constants describe the author of the commits. The repository may be public, so commits must not contain names
// and addresses of users.
const (
	committerName  = "Octavo"
	committerEmail = "octavo@users.noreply.invalid"
)

// push pushes the commit and returns its hash. If nothing has changed, it returns the hash of the branch's newest
// commit.
func (g *gitRun) push(ctx context.Context, from exportFrom, commit gitsync.Commit) (string, error) {
	if from.snapshot != nil && !from.newBranch && len(commit.Changes) == 0 {
		return from.snapshot.Commit, nil
	}
	return g.deps.Git.Push(ctx, g.remote, commit)
}

// uploads returns the function that reads a file of the exported revision.
func (g *gitRun) uploads(ctx context.Context) func(id string) (string, []byte, error) {
	return func(id string) (string, []byte, error) {
		file, err := g.deps.Store.File(ctx, g.operation.SpaceID, g.base.Head, id)
		if err != nil {
			return "", nil, err
		}
		content, err := g.deps.Store.FileContent(ctx, g.operation.SpaceID, file.Hash)
		return file.Name, content, err
	}
}

// namedFiles is the largest number of files that an error names.
const namedFiles = 10

func movedError(moved []string, synced bool) error {
	named := moved[:min(len(moved), namedFiles)]
	for i, name := range named {
		named[i] = plainLine(name)
	}
	more := ""
	if n := len(moved) - len(named); n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	why := "the branch has changes that were not imported: "
	if !synced {
		why = "the branch has content that was never synchronized with this space: "
	}
	return schema.Conflict(why + strings.Join(named, ", ") + more + ". Import them first, or export with force to overwrite them")
}
