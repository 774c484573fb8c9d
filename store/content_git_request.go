package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content/merge"
	"github.com/octavo-docs/octavo/schema/content/tree"
	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/postgres"
)

// ErrGitMoved is the error of an import if the merge rules or the import's change request have changed since the import
// was prepared. The caller must read the GitBase again.
var ErrGitMoved = errors.New("the merge rules or the change request of the import have changed")

// gitWay describes how an import proceeds: it changes the space, opens a change request, or updates a change request.
//
// The change request of a branch has a separate synchronization, called proposed. The proposed synchronization has the
// commit, the commit's files, and the revision with Git's state. This state is the content of the request, and the last
// synchronization is the request's base. So a merge of the request merges the changes that both sides have made since
// the last synchronization. A later import merges Git's changes since the proposed synchronization into the request.
// When the request is merged, the proposed synchronization becomes the last synchronization.
type gitWay struct {
	// proposes is true if the import must go into a change request, for example because merge rules restrict the user.
	proposes bool
	// allowedBy is the reason why the merge rules do not restrict the user. It is nil if there are no merge rules.
	allowedBy *string
	// proposed is the proposed synchronization of the branch, or nil. `request` is its change request, or nil if the
	// request is archived.
	proposed *db.GitSync
	request  *ChangeRequest
}

// updates reports whether the import updates an open change request.
func (w gitWay) updates() bool { return w.proposes && w.request != nil }

// same reports whether an import can proceed as it was prepared. `w` is how the import was to proceed when it was
// prepared. `as` is how the import must proceed now.
func (w gitWay) same(as gitWay) bool {
	if !w.updates() || !as.updates() {
		return w.proposes == as.proposes && w.updates() == as.updates()
	}
	return w.proposed.ID == as.proposed.ID && w.proposed.Revision == as.proposed.Revision
}

// wayOfImport returns how an import must proceed. An import needs no change request if there are no merge rules, or if
// the user may bypass them. If `proposes` is true, the import always needs a change request, in which people resolve
// its conflicts.
func wayOfImport(
	ctx context.Context, q *db.Queries, space Space, o GitOperation, remote string, proposes bool,
) (w gitWay, err error) {
	parameters, err := postgres.FromJSON[schema.GitParameters](o.Parameters)
	if err != nil || o.Kind != schema.GitImport || schema.Or(parameters.Standalone, false) {
		return w, err
	}
	if w.proposed, err = proposedGit(ctx, q, space.ID, remote); err != nil {
		return w, err
	}
	if w.proposed != nil {
		if w.request, err = openGitRequest(ctx, q, *w.proposed); err != nil {
			return w, err
		}
	}
	if w.proposes = proposes; proposes {
		return w, nil
	}
	own, err := postgres.FromJSON[schema.MergeRules](space.MergeRules)
	if err != nil {
		return w, err
	}
	stored, err := q.OrganizationMergeRules(ctx, space.OrganizationID)
	if err != nil {
		return w, postgres.Interpret(err, "organization")
	}
	organization, err := postgres.FromJSON[schema.MergeRules](stored)
	if err != nil {
		return w, err
	}
	trusted, err := postgres.FromJSON[[]schema.GitBranch](space.GitTrusted)
	if err != nil {
		return w, err
	}
	rules, user, folder := own.Or(organization), postgres.Deref(o.CreatedBy), parameters.RepoProjectDirectory
	allowedBy := ""
	switch {
	case rules.Type != "rules" && space.EditMode != schema.EditModeLocked:
		return w, nil
	case slices.ContainsFunc(trusted, func(b schema.GitBranch) bool { return b.Covers(o.Url, o.Ref, folder) }):
		allowedBy = schema.GitTrusted
	case rules.Bypass(user):
		allowedBy = schema.GitBypass
	default:
		w.proposes = true
		return w, nil
	}
	w.allowedBy = &allowedBy
	return w, nil
}

// proposedGit returns the proposed synchronization of a branch, or nil.
func proposedGit(ctx context.Context, q *db.Queries, spaceID, remote string) (*db.GitSync, error) {
	row, err := q.ProposedGitSync(ctx, db.ProposedGitSyncParams{SpaceID: spaceID, Remote: remote})
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	return &row, postgres.Interpret(err, "git synchronization")
}

// openGitRequest returns the change request of a proposed synchronization, or nil if the request is archived.
func openGitRequest(ctx context.Context, q *db.Queries, proposed db.GitSync) (*ChangeRequest, error) {
	row, err := q.ChangeRequest(ctx, db.ChangeRequestParams{
		SpaceID: proposed.SpaceID, ID: postgres.Deref(proposed.ChangeRequestID),
	})
	if err != nil {
		return nil, postgres.Interpret(err, "change request")
	}
	if stillOpen(row) == nil {
		return &row, nil
	}
	return nil, nil
}

// propose writes the pages of the repository into a change request.
func (i *gitImporter) propose() error {
	if i.in.Operation.CreatedBy == nil {
		return schema.Conflict("the user who asked for the import is gone, and it has to become a change request: " +
			"ask for the import again")
	}
	if i.way.request != nil {
		return i.update()
	}
	return i.open()
}

// open creates a change request. If the space already has all of Git's changes, open creates no change request.
func (i *gitImporter) open() error {
	ctx, q, in := i.ctx, i.q, i.in
	base, err := i.proposedBase()
	if err != nil {
		return err
	}
	theirs, err := i.state(base)
	if err != nil {
		return err
	}
	result, _, err := mergeAll(ctx, q, [3]Revision{base, i.head, theirs})
	if err != nil {
		return err
	}
	if len(result.Conflicts) == 0 && len(result.Write) == 0 && len(result.Delete) == 0 {
		return i.finish(i.head.ID, theirs.ID)
	}
	numbered, err := q.NumberChangeRequest(ctx, i.space.ID)
	if err != nil {
		return postgres.Interpret(err, "space")
	}
	row, err := q.InsertChangeRequest(ctx, db.InsertChangeRequestParams{
		ID: schema.NewID(), SpaceID: i.space.ID, OrganizationID: i.space.OrganizationID,
		Number: numbered.ChangeRequestNumber, Subject: gitSubject(in.Operation, in.Commit),
		CreatedBy: *in.Operation.CreatedBy, Revision: base.ID,
		GitImport: true,
	})
	if err != nil {
		return postgres.Interpret(err, "change request")
	}
	if err := setStatus(ctx, q, &row, schema.ChangeRequestOpen); err != nil {
		return err
	}
	before := base
	if base.Branch != i.space.ID {
		before = i.head
	}
	if err := i.fill(&row, before); err != nil {
		return err
	}
	i.say("opened", row.Number)
	return i.proposeTo(row, theirs)
}

// proposedBase returns the revision on which a new change request is based. Usually this is the revision of the last
// synchronization. If the repository's pages replace the space's pages, it is the newest revision of the space.
func (i *gitImporter) proposedBase() (Revision, error) {
	if i.in.Force || i.in.Base.revision == "" && i.head.PageCount == 0 {
		return i.head, nil
	}
	return i.base()
}

// fill makes the repository's pages the content of a request. It stores only the differences from `before`, which is a
// revision of the main content.
func (i *gitImporter) fill(row *ChangeRequest, before Revision) error {
	next, err := nextOf(i.ctx, i.q, row.ID, before)
	if err != nil {
		return err
	}
	if err := i.q.EndBranch(i.ctx, db.EndBranchParams{Branch: row.ID, Seq: next.Seq}); err != nil {
		return postgres.Interpret(err, "pages")
	}
	if row.Revision, err = i.write(next, before, false); err != nil {
		return err
	}
	return i.addFiles(next)
}

// update merges Git's changes since the last import into the open request, which users may have edited. If the import
// is forced, Git's pages replace the request's pages.
func (i *gitImporter) update() error {
	ctx, q, in := i.ctx, i.q, i.in
	row, err := q.LockChangeRequest(ctx, i.way.request.ID)
	if err != nil {
		return postgres.Interpret(err, "change request")
	}
	base, err := i.base()
	if err != nil {
		return err
	}
	theirs, err := i.state(base)
	if err != nil {
		return err
	}
	switch was := row.Revision; {
	case in.Force:
		if err := i.fill(&row, i.head); err != nil {
			return err
		}
		row.RevisionMergedAncestor = &i.head.ID
		if err := q.DeleteAllConflictChoices(ctx, row.ID); err != nil {
			return postgres.Interpret(err, "conflicts")
		}
	default:
		ours, err := revision(ctx, q, i.space.ID, was)
		if err != nil {
			return err
		}
		if err := i.mergeInto(&row, [3]Revision{base, ours, theirs}); err != nil {
			return err
		}
	}
	if row.Subject == gitSubject(in.Operation, in.Base.Commit) { // no user has changed the request's subject
		row.Subject = gitSubject(in.Operation, in.Commit)
	}
	i.say("updated", row.Number)
	return i.proposeTo(row, theirs)
}

func (i *gitImporter) mergeInto(row *ChangeRequest, of [3]Revision) error {
	ctx, q := i.ctx, i.q
	result, made, err := mergeAll(ctx, q, of)
	if err != nil {
		return err
	}
	if open := merge.Open(result.Conflicts); len(open) > 0 {
		who := fmt.Sprintf("the change request %d", row.Number)
		return i.refuse(who, "retry, archive the change request, or import", open)
	}
	if err := insertDocuments(ctx, q, row.SpaceID, made); err != nil {
		return err
	}
	changed := tree.Changed{Put: result.Write, Gone: result.Delete, Size: result.Count}
	if changed.None() && len(i.loaded) == 0 {
		return nil
	}
	next, err := nextOf(ctx, q, row.ID, of[1])
	if err != nil {
		return err
	}
	next.Type, next.CreatedBy = RevisionEdits, i.in.Operation.CreatedBy
	if row.Revision, err = insertContent(ctx, q, next, changed); err != nil {
		return err
	}
	return i.addFiles(next)
}

// proposeTo stores the change request and its proposed synchronization, and marks the operation as done.
func (i *gitImporter) proposeTo(row ChangeRequest, theirs Revision) error {
	ctx, q, in := i.ctx, i.q, i.in
	_, err := saveChangeRequest(ctx, q, row)
	if err != nil {
		return err
	}
	if err := addContributor(ctx, q, row.ID, *in.Operation.CreatedBy); err != nil {
		return err
	}
	// If the proposed synchronization is not the base of this import, its request is archived. So the proposed
	// synchronization ends.
	if proposed := i.way.proposed; proposed != nil && proposed.ID != in.Base.id {
		if err := q.DeleteGitSync(ctx, proposed.ID); err != nil {
			return postgres.Interpret(err, "git synchronization")
		}
	}
	put := db.PutGitSyncParams{Revision: theirs.ID, ChangeRequestID: &row.ID}
	if put.Redirects, err = postgres.ToJSON(in.Redirects); err != nil {
		return err
	}
	if err := putGitSync(ctx, q, in.GitOutcome, in.Base, put, in.Files); err != nil {
		return err
	}
	if err := i.store.db.Within(ctx, q, postgres.QuotaChangeRequests, i.space.ID); err != nil {
		return err
	}
	i.in.Operation.ChangeRequestID = &row.ID
	return finishGit(ctx, q, i.in.GitOutcome, row.Revision)
}

// supersede deletes the branch's other synchronizations, because the import becomes the last synchronization. It
// archives an open change request with Git's earlier state. If users have edited this request, only a forced import
// archives the request.
func (i *gitImporter) supersede() error {
	ctx, q, in := i.ctx, i.q, i.in
	known, err := q.GitSync(ctx, db.GitSyncParams{SpaceID: i.space.ID, Remote: in.Base.remote})
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return postgres.Interpret(err, "git synchronization")
	}
	if err == nil && known.ID != in.Base.id {
		if err := q.DeleteGitSync(ctx, known.ID); err != nil {
			return postgres.Interpret(err, "git synchronization")
		}
	}
	if i.way.proposed == nil {
		return nil
	}
	if err := q.DeleteGitSync(ctx, i.way.proposed.ID); err != nil || i.way.request == nil {
		return postgres.Interpret(err, "git synchronization")
	}
	row, err := q.LockChangeRequest(ctx, i.way.request.ID)
	if err != nil {
		return postgres.Interpret(err, "change request")
	}
	found, err := revisions(ctx, q, i.space.ID, i.way.proposed.Revision, row.Revision)
	if err != nil {
		return err
	}
	edits, err := changedPages(ctx, q, found[i.way.proposed.Revision], found[row.Revision])
	if err != nil {
		return err
	}
	if len(edits) > 0 && !in.Force {
		return schema.Conflict(
			fmt.Sprintf("the change request %d has an earlier import of the branch, and was edited or "+
				"updated since: nothing was imported. Merge or archive it and retry, or import with force", row.Number),
		)
	}
	if err := setStatus(ctx, q, &row, schema.ChangeRequestArchived); err != nil {
		return err
	}
	if _, err := saveChangeRequest(ctx, q, row); err != nil {
		return err
	}
	i.note("archived the change request %d, which had an earlier import of the branch", row.Number)
	return wakeGitExports(ctx, q, i.space, row.ID)
}

// say adds a text for users that explains why the import is in a change request.
func (i *gitImporter) say(did string, number int32) {
	if i.in.Conflicts == "" {
		i.note("merge rules hold for the space, so the import %s the change request %d", did, number)
		return
	}
	i.in.Reason = fmt.Sprintf(
		"%s: the import %s the change request %d, where the conflicts are resolved", i.in.Conflicts, did, number,
	)
}

// note adds a note about the import for users.
func (i *gitImporter) note(format string, args ...any) {
	i.in.Notes = append(i.in.Notes, schema.GitNote{Text: fmt.Sprintf(format, args...)})
}

const (
	longestSubject = 100
	longestRepo    = 40
	shortHash      = 12
)

// gitSubject returns the subject of the change request that an import opens.
func gitSubject(o GitOperation, commit string) string {
	repo := []rune(schema.RepoName(o.Url))
	if len(repo) == 0 {
		repo = []rune(o.Url)
	}
	repo = repo[max(0, len(repo)-longestRepo):]
	end := " at " + commit[:min(len(commit), shortHash)]
	begin := []rune("Import " + string(repo) + ", " + strings.TrimPrefix(o.Ref, "refs/heads/"))
	if parameters, err := postgres.FromJSON[schema.GitParameters](o.Parameters); err == nil {
		if folder := schema.GitFolder(parameters.RepoProjectDirectory); folder != "" {
			begin = append(begin, []rune(" ("+folder+")")...)
		}
	}
	return string(begin[:min(len(begin), longestSubject-len(end))]) + end
}
