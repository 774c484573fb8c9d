package jobs

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/octavo-docs/octavo/api/remote/gitsync"
	"github.com/octavo-docs/octavo/schema/content/gitlayout"
	"github.com/octavo-docs/octavo/store"
)

// exportFrom describes the commit on which an export builds.
type exportFrom struct {
	force bool
	// The parent is the commit before the export's commit. `snapshot` has the parent's files. It is nil if the export's
	// commit has no parent. newBranch is true if the export creates the branch at the parent.
	snapshot  *gitsync.Snapshot
	newBranch bool
	// copied is a commit of another repository. If it is set, the export's commit has no parent, and gets the
	// synchronized files of `copied`.
	copied *gitsync.Snapshot
	source store.GitSource
	// whole is true if no repository has the synchronized files any more. The export then writes all pages.
	whole bool
}

func (f *exportFrom) close() error {
	var err error
	for _, s := range []*gitsync.Snapshot{f.snapshot, f.copied} {
		if s != nil {
			err = errors.Join(err, s.Close())
		}
	}
	return err
}

// match prepares an export to a branch that exists, but was never synchronized with the space. If the space was
// synchronized with other branches or repositories, `match` uses the state of one of these synchronizations as the base
// of the export. It prefers a synchronization whose commit is `tip`, the newest commit of the branch.
func (g *gitRun) match(ctx context.Context, tip string) (err error) {
	others := g.base.Others
	if len(others) == 0 {
		return nil
	}
	source := others[0]
	if at := slices.IndexFunc(others, func(s store.GitSource) bool { return s.Commit == tip }); at >= 0 {
		source = others[at]
	}
	g.base, err = g.deps.Store.GitBaseFrom(ctx, g.operation, source)
	return err
}

// mostSources is the largest number of earlier synchronizations that `begin` tries.
const mostSources = 5

// begin finds the commit at which the export creates the branch. It is the newest commit of an earlier synchronization
// that the repository still has. If the repository has none of these commits, `begin` takes the files of such a commit
// from the repository where it was synchronized.
func (g *gitRun) begin(ctx context.Context, from *exportFrom) error {
	var others []store.GitSource
	for _, s := range g.base.Others {
		if s.Commit == g.base.Commit {
			others = append([]store.GitSource{s}, others...)
		} else {
			others = append(others, s)
		}
	}
	others = others[:min(len(others), mostSources)]
	for _, s := range others {
		found, err := g.commitOf(ctx, g.remote, s)
		switch {
		case err != nil:
			return err
		case found != nil:
			from.snapshot, from.newBranch, from.source = found, true, s
			return g.startFrom(ctx, s)
		}
	}
	if len(others) == 0 {
		return nil
	}
	for _, s := range others {
		if s.Near {
			continue
		}
		found, err := g.commitOf(ctx, g.remoteOf(s), s)
		if err == nil && found != nil {
			from.copied, from.source = found, s
			return g.startFrom(ctx, s)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	from.whole, from.source = true, others[0]
	g.note("", fmt.Sprintf(
		"the files of the commit %s, which was synchronized before, cannot be read any more: all pages are "+
			"written again, "+
			"and what only their files had is missing", others[0].Commit,
	))
	return g.startFrom(ctx, others[0])
}

func (g *gitRun) startFrom(ctx context.Context, s store.GitSource) (err error) {
	g.base, err = g.deps.Store.GitBaseFrom(ctx, g.operation, s)
	return err
}

// commitOf fetches the commit of a synchronization. It returns nil if the repository does not have this commit.
func (g *gitRun) commitOf(ctx context.Context, remote gitsync.Remote, s store.GitSource) (*gitsync.Snapshot, error) {
	remote.Commit, remote.Cache = s.Commit, gitsync.CacheKey{}
	found, err := g.deps.Git.Fetch(ctx, remote)
	if errors.Is(err, gitsync.NoCommit) || errors.Is(err, gitsync.EmptyRepository) {
		return nil, nil
	}
	return found, err
}

// remoteOf returns the repository of a synchronization. It adds the operation's user name and password only if the
// repository has the same origin, so that no other host gets them.
func (g *gitRun) remoteOf(s store.GitSource) gitsync.Remote {
	remote := gitsync.Remote{URL: s.URL, Ref: g.remote.Ref}
	if origin(s.URL) == origin(g.remote.URL) {
		remote.Username, remote.Password = g.remote.Username, g.remote.Password
	}
	return remote
}

func origin(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	return strings.ToLower(u.Scheme + "://" + u.Host)
}

// layoutOf opens the files on which an export builds. From the commit of another repository, it takes only the
// synchronized files.
func (g *gitRun) layoutOf(from exportFrom) (*gitlayout.Layout, error) {
	if from.copied == nil {
		return g.layout(from.snapshot)
	}
	g.files = map[string]gitsync.File{}
	for _, file := range from.copied.Files {
		if _, synced := g.base.Files[file.Path]; synced {
			g.files[file.Path] = file
		}
	}
	return g.open(from.copied)
}

// copied adds files to the changes of the export: the copied files that the export does not change. A commit without a
// parent must contain all files.
func (g *gitRun) copied(from exportFrom, changes []gitsync.Change) ([]gitsync.Change, error) {
	done := map[string]bool{}
	for _, change := range changes {
		done[change.Path] = true
	}
	changes = slices.DeleteFunc(changes, func(c gitsync.Change) bool { return c.Delete })
	for _, file := range from.copied.Files {
		if _, there := g.files[file.Path]; !there || done[file.Path] {
			continue
		}
		content, err := from.copied.Read(file)
		if err != nil {
			return nil, err
		}
		changes = append(changes, gitsync.Change{Path: file.Path, Content: content})
	}
	return changes, nil
}
