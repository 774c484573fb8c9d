package jobs

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"runtime/debug"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/api/remote/gitsync"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content/gitlayout"
	"github.com/octavo-docs/octavo/store"
)

// syncGit runs an import or an export. If it fails, the job and the operation both show the reason.
//
// After a synchronization, a space and a branch (or a directory of the branch) have the same content. The
// synchronization records the commit, and the revision with the pages of this commit. If only one side has changed
// since then, its changes are applied to the other side. If both sides have changed,
//   - an import merges them, by page, field and block. If both sides changed something in different ways, the import is
//     refused, and the error names the pages. A forced import takes all pages from the repository. Other content of the
//     space is then removed (its older revisions stay);
//   - an export is refused, and the error names the files of the branch that were not imported. A forced export
//     overwrites or deletes these files if they are pages or files of the space. The new commit always builds on the
//     branch's newest commit.
//
// If the merge rules do not allow the user to merge directly, the import opens a change request. The synchronization is
// then complete when this request is merged. An export waits until the request is merged or closed.
//
// A force-pushed branch is treated like any other branch, because only contents are compared. Operations run in the
// order in which they were requested. An operation is skipped if another operation with a newer timestamp is done. A
// standalone import makes a revision, but records no synchronization. Each run fetches only the newest commit. If the
// request has a `repoCacheID`, the node caches the commit. Later runs of the organization with the same id and address
// then fetch only newer objects.
func syncGit(ctx context.Context, d Deps, args schema.SyncGit) error {
	o, run, err := d.Store.StartGitOperation(ctx, args.Operation)
	if schema.IsCode(err, schema.CodeNotFound) || err == nil && !run {
		return nil // The operation has ended, or its space was deleted.
	}
	if err != nil {
		return err
	}
	g := gitRun{deps: d, operation: o, now: time.Now().UTC().Truncate(time.Millisecond)}
	err = g.watched(ctx)
	if err == nil || errors.Is(err, store.ErrGitCancelled) {
		return nil
	}
	if errors.Is(err, store.ErrGitForbidden) {
		return d.Store.ForbidGitOperation(ctx, o.ID)
	}
	err = explainGit(err)
	reason := internalReason
	if public, ok := errors.AsType[*schema.Error](err); ok && public.Code != schema.CodeInternal {
		reason = public.Message
	}
	// The reason is stored even if the job's time is over.
	noting, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	// The context is cancelled if the node stops, or if the job must give its worker to another job (see worker.Work).
	// The operation then waits for its next attempt.
	if errors.Is(ctx.Err(), context.Canceled) {
		return errors.Join(err, d.Store.RequeueGitOperation(noting, o.ID))
	}
	return errors.Join(err, d.Store.FailGitOperation(noting, o.ID, reason, again(ctx, args.JobKind(), err)))
}

// gitRun is one attempt at an operation.
type gitRun struct {
	deps       Deps
	operation  store.GitOperation
	parameters schema.GitParameters
	remote     gitsync.Remote
	base       store.GitBase
	now        time.Time
	notes      []schema.GitNote
	files      map[string]gitsync.File // files has the repository's files by path.
	pending    []store.Document
	bytes      int
	progress   gitProgress
}

func (g *gitRun) run(ctx context.Context) (err error) {
	defer func() {
		if p := recover(); p != nil { // Another attempt would panic again, so the operation fails.
			err = schema.Internal(fmt.Errorf("panic: %v\n%s", p, debug.Stack()))
		}
	}()
	if err := g.permitted(ctx); err != nil {
		return err
	}
	o := g.operation
	if g.parameters, err = schema.DecodeJSON[schema.GitParameters](o.Parameters); err != nil {
		return err
	}
	g.remote = gitsync.Remote{URL: o.Url, Ref: o.Ref}
	login, err := g.deps.Store.GitCredentials(ctx, o.ID)
	if err != nil {
		return err
	}
	if name, password, ok := splitLogin(login); ok {
		g.remote.Username, g.remote.Password = name, password
	}
	if g.base, err = g.deps.Store.GitBase(ctx, o, false); err != nil {
		return err
	}
	g.remote.Cache = gitsync.CacheKey{Owner: g.base.Organization, ID: schema.Or(g.parameters.RepoCacheID, "")}
	if o.Kind == schema.GitImport {
		return g.importRepository(ctx)
	}
	return g.exportToRepository(ctx)
}

// permitted returns ErrGitForbidden if the operation's author may not synchronize the space any more.
func (g *gitRun) permitted(ctx context.Context) error {
	author, err := g.deps.Store.SpaceAuthor(ctx, g.operation.SpaceID, g.operation.CreatedBy)
	if err == nil && !access.SynchronizingGit().Permits(author) {
		err = store.ErrGitForbidden
	}
	return err
}

// splitLogin splits the part of an address before the host into a user name and a password. It returns no error,
// because an error would contain the password.
func splitLogin(login string) (name, password string, ok bool) {
	if login == "" {
		return "", "", false
	}
	name, password, _ = strings.Cut(login, ":")
	plainName, nameErr := url.PathUnescape(name)
	plainPassword, passwordErr := url.PathUnescape(password)
	return plainName, plainPassword, nameErr == nil && passwordErr == nil
}

// explainGit replaces the errors of a repository by errors with public messages. It marks errors that another attempt
// would repeat (GiveUp).
func explainGit(err error) error {
	if refused, ok := errors.AsType[*gitsync.Error](err); ok {
		public := &schema.Error{Code: schema.CodeConflict, Message: refused.Error(), Cause: errors.Unwrap(refused)}
		if refused.Retryable() {
			return public
		}
		return GiveUp(public)
	}
	for _, known := range []error{
		gitlayout.ErrProject, gitlayout.ErrNoFolder, gitlayout.ErrConfig, gitlayout.ErrSummary, gitlayout.ErrTooLarge,
	} {
		if errors.Is(err, known) {
			return GiveUp(&schema.Error{Code: schema.CodeConflict, Message: plainLine(err.Error())})
		}
	}
	// For temporary problems, package store returns the code "unavailable". Any other error would occur again, and a
	// retry would only delay the next operations.
	if public, ok := errors.AsType[*schema.Error](err); ok && public.Code <= schema.CodeInternal {
		return GiveUp(public)
	}
	return err
}

// outcome returns the result of the run.
func (g *gitRun) outcome(commit string) store.GitOutcome {
	return store.GitOutcome{Operation: g.operation, Commit: commit, Notes: g.notes, Now: g.now}
}

// maxNotes is the largest number of stored notes about files that were not synchronized.
const maxNotes = 200

func (g *gitRun) note(path, text string) {
	switch len(g.notes) {
	case maxNotes:
		g.notes = append(g.notes, schema.GitNote{Text: "there are more notes than are kept"})
	default:
		if len(g.notes) < maxNotes {
			g.notes = append(g.notes, schema.GitNote{Path: plainLine(path), Text: text})
		}
	}
}

// plainLine returns a name from a repository as a line that can be displayed. The name may contain any bytes.
func plainLine(text string) string {
	const longest = 300
	text = strings.Map(func(r rune) rune {
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			return '\ufffd'
		}
		return r
	}, text)
	if runes := []rune(text); len(runes) > longest {
		text = string(runes[:longest]) + "…"
	}
	return text
}

// layout opens the fetched files; s is nil for a branch that does not exist yet. It adds notes about files in the
// project directory that cannot be synchronized. It adds no notes about other files, because the operation ignores
// them.
func (g *gitRun) layout(s *gitsync.Snapshot) (*gitlayout.Layout, error) {
	g.files = map[string]gitsync.File{}
	if s != nil {
		for _, file := range s.Files {
			g.files[file.Path] = file
		}
		folder := schema.GitFolder(g.parameters.RepoProjectDirectory)
		for _, left := range s.Left {
			if folder == "" || left.Path == folder || strings.HasPrefix(left.Path, folder+"/") {
				g.note(left.Path, "left as it is: "+string(left.Why))
			}
		}
	}
	return g.open(s)
}

// open opens the files of a snapshot that are in g.files.
func (g *gitRun) open(s *gitsync.Snapshot) (*gitlayout.Layout, error) {
	repository := gitlayout.Repository{
		Read: func(name string) ([]byte, error) {
			file, there := g.files[name]
			if !there {
				return nil, fmt.Errorf("%q is not in the repository", name)
			}
			return s.Read(file)
		},
		Writable: gitsync.SafePath,
		Fold:     func(name string) string { return gitsync.FoldName(norm.NFC.String(name)) },
	}
	if s != nil {
		for _, left := range s.Left {
			repository.Left = append(repository.Left, gitlayout.Left{Path: left.Path, Why: string(left.Why)})
		}
		for _, file := range s.Files {
			if _, there := g.files[file.Path]; there {
				repository.Files = append(repository.Files, gitlayout.File{Path: file.Path, Blob: file.Blob})
			}
		}
	}
	return gitlayout.Open(repository, schema.Or(g.parameters.RepoProjectDirectory, ""))
}

// tools returns the functions of the store that package gitlayout needs.
func (g *gitRun) tools(ctx context.Context) gitlayout.Tools {
	space := g.operation.SpaceID
	return gitlayout.Tools{
		TreeURL: schema.Or(g.parameters.RepoTreeURL, ""), Now: g.now, NewID: schema.NewID, Pages: g.base.Pages,
		Progress: func(done, total int) { g.progress.at(schema.GitPages, done, total) },
		Load: func(hash string) (schema.Document, error) {
			if err := ctx.Err(); err != nil {
				return schema.Document{}, err
			}
			texts, err := g.deps.Store.Documents(ctx, space, []string{hash})
			return texts[hash].Document, err
		},
		Keep: func(d schema.Document) (string, error) {
			if err := ctx.Err(); err != nil {
				return "", err
			}
			document, err := store.NewDocument(store.Text{Document: d})
			if err != nil {
				return "", err
			}
			g.pending, g.bytes = append(g.pending, document), g.bytes+len(document.Content)
			return document.Hash, g.keep(ctx, keptBytes)
		},
	}
}

// keptBytes is the largest size in bytes of the documents that wait to be stored together.
const keptBytes = 4 << 20

// keep stores the waiting documents if they have more bytes than `allowed`.
func (g *gitRun) keep(ctx context.Context, allowed int) error {
	if g.bytes <= allowed {
		return nil
	}
	err := g.deps.Store.KeepDocuments(ctx, g.operation.SpaceID, g.pending)
	g.pending, g.bytes = nil, 0
	return err
}
