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

// exportFrom is the commit whose files an export starts from.
type exportFrom struct {
	force bool
	// snapshot is the parent of the export's commit; nil for a first commit. newBranch is true if the branch starts at
	// this commit.
	snapshot  *gitsync.Snapshot
	newBranch bool
	// copied is a commit of another repository. The synchronized files of this commit become files of the first commit.
	copied *gitsync.Snapshot
	source store.GitSource
	// whole is set if the synchronized files cannot be read: all pages are written.
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

// match looks in a branch that was never synchronized for a commit or for files of another synchronization.
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

// mostSources bounds the synchronizations from which a new branch may begin.
const mostSources = 5

// begin finds the parent commit of a new branch. The parent may be the deleted branch's last commit, a commit of
// another branch, or a commit of a repository with the same history. If there is no such commit, begin copies the files
// of the last synchronization.
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

// commitOf fetches the commit of a synchronization; it returns nil if the repository does not have this commit.
func (g *gitRun) commitOf(ctx context.Context, remote gitsync.Remote, s store.GitSource) (*gitsync.Snapshot, error) {
	remote.Commit, remote.Cache = s.Commit, gitsync.CacheKey{}
	found, err := g.deps.Git.Fetch(ctx, remote)
	if errors.Is(err, gitsync.NoCommit) || errors.Is(err, gitsync.EmptyRepository) {
		return nil, nil
	}
	return found, err
}

// remoteOf is the repository of a synchronization. It has the login only if its origin is the operation's origin.
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

// layoutOf opens the files that an export starts from. A copied repository has only the synchronized files.
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

// copied adds the unchanged copied files to the changes of an export.
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
