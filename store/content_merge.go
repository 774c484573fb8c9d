package store

import (
	"context"
	"errors"
	"reflect"
	"time"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content/tree"
	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/postgres"
	"github.com/octavo-docs/octavo/store/sites"
)

// ContentChange is a change that a user makes to the content of a change request. If one part fails, the whole change
// fails.
type ContentChange struct {
	UserID string
	// Seen is the revision whose content the user has changed. It is nil if the client did not send it. Then the change
	// replaces what others have written since.
	Seen  *string
	Pages []tree.Change
	// Names are the names of the request body's fields from which Pages come, for error messages.
	Names []string
	// Documents are the documents to which Pages refer. Files are new files.
	Documents []Document
	Files     []NewFile
}

// ChangeContent creates a new revision of a change request that is open or a draft. It writes only the differences. If
// the change has no effect, it creates no revision.
func (s *Store) ChangeContent(ctx context.Context, request ChangeRequest, change ContentChange) (ChangeRequestRow, error) {
	return s.changeRequest(ctx, request, func(q *db.Queries, space Space, row *ChangeRequest) error {
		if err := stillOpen(*row); err != nil {
			return err
		}
		if err := StillAt(*row, change.Seen); err != nil {
			return err
		}
		return s.changeContent(ctx, q, row, change)
	})
}

// changeContent creates a new revision of a locked request, and sets row.Revision. The caller stores the row.
func (s *Store) changeContent(ctx context.Context, q *db.Queries, row *ChangeRequest, change ContentChange) error {
	before, err := revision(ctx, q, row.SpaceID, row.Revision)
	if err != nil {
		return err
	}
	source := pageSource{ctx: ctx, q: q, spaceID: row.SpaceID, revisionID: before.ID, size: before.PageCount}
	changed, err := tree.Apply(source, change.Pages, schema.NewID, time.Now().UTC().Truncate(time.Millisecond))
	if refused, ok := errors.AsType[*tree.Problem](err); ok {
		return schema.Invalid(change.Names[refused.Change]+"."+refused.Member, refused.Text)
	}
	if err != nil {
		return err
	}
	if changed.None() && len(change.Files) == 0 {
		return errUnchanged
	}
	if err := insertDocuments(ctx, q, row.SpaceID, change.Documents); err != nil {
		return err
	}
	after, err := nextOf(ctx, q, row.ID, before)
	if err != nil {
		return err
	}
	after.Type, after.CreatedBy = RevisionEdits, &change.UserID
	if row.Revision, err = insertContent(ctx, q, after, changed); err != nil {
		return err
	}
	if len(change.Files) > 0 {
		if err := insertFiles(ctx, q, after, change.Files); err != nil {
			return err
		}
		if err := s.db.Within(ctx, q, postgres.QuotaFileBytes, row.OrganizationID); err != nil {
			return err
		}
	}
	return addContributor(ctx, q, row.ID, change.UserID)
}

// insertContent stores a revision of a branch, with the pages that the revision changes.
func insertContent(ctx context.Context, q *db.Queries, r Revision, changed tree.Changed) (id string, err error) {
	r.PageCount = changed.Size
	if id, err = insertRevision(ctx, q, r); err != nil {
		return "", err
	}
	return id, writePages(ctx, q, r, changed)
}

// stillOpen returns an error for a merged or archived request, because its content must not change.
func stillOpen(row ChangeRequest) error {
	if row.Status == schema.ChangeRequestMerged || row.Status == schema.ChangeRequestArchived {
		return schema.Conflict("the change request is " + row.Status)
	}
	return nil
}

// MergeResult is the result of a merge or an update. If Conflicts is true, conflicts have prevented the merge, and
// Revision is unchanged.
type MergeResult struct {
	Revision  string
	Conflicts bool
}

// MergeFacts has the facts by which merge rules decide whether a change request may be merged.
type MergeFacts struct {
	ChangeRequestRow
	// SpaceRules and OrganizationRules are JSON.
	SpaceRules        []byte
	OrganizationRules []byte
	// Reviews has all users who were asked for a review or have reviewed the request.
	Reviews []schema.ReviewState
	// People are the users of Reviews and the users whom the rules name, by id.
	People map[string]MergePerson
}

// MergePerson is a user whose approval may satisfy a merge rule. Member is false for a user outside the organization.
type MergePerson struct {
	Name   string
	Member bool
	Access postgres.ContentAccess
}

// maxMergeTries is the largest number of times that a merge starts again because the facts of the merge rules have
// changed.
const maxMergeTries = 5

// ErrCostly is the error that a MergeJudge returns while the space is locked, if its decision may take longer than some
// microseconds.
var ErrCostly = errors.New("the merge has to be judged without a lock")

// MergeJudge decides about a merge: it returns nil or the reason why the merge is refused. If locked is true, the space
// is locked, and MergeJudge may return ErrCostly.
type MergeJudge func(facts MergeFacts, locked bool) error

// MergeChangeRequest merges the content of a request into its space, as a new revision. It calls `judge` while the
// space is locked. If `judge` returns ErrCostly, MergeChangeRequest unlocks the space and calls `judge` again. If
// `judge` allows the merge and the facts are unchanged under the next lock, the request is merged. A request without
// changes can be merged too.
func (s *Store) MergeChangeRequest(
	ctx context.Context, request ChangeRequest, userID string, judge MergeJudge,
) (MergeResult, error) {
	var judged *MergeFacts
	for range maxMergeTries {
		result, err := s.merge(ctx, request, userID, func(facts MergeFacts) error {
			if judged != nil && judged.same(facts) {
				return nil
			}
			judged = &facts
			return judge(facts, true)
		})
		if !errors.Is(err, ErrCostly) {
			return result, err
		}
		if err := judge(*judged, false); err != nil {
			return MergeResult{}, err
		}
	}
	return MergeResult{}, schema.Conflict("the change request, its reviews or its space keep changing: try again")
}

func (s *Store) merge(
	ctx context.Context, request ChangeRequest, userID string, allow func(MergeFacts) error,
) (MergeResult, error) {
	changed, err := s.changeRequest(ctx, request, func(q *db.Queries, space Space, row *ChangeRequest) error {
		if err := stillOpen(*row); err != nil {
			return err
		}
		facts, err := mergeFacts(ctx, q, space, *row)
		if err != nil {
			return err
		}
		if err := allow(facts); err != nil {
			return err
		}
		m, err := mergeContent(ctx, q, space, *row)
		if err != nil {
			return err
		}
		after := Revision{
			SpaceID: row.SpaceID, Branch: row.SpaceID, Seq: m.head.Seq + 1, Type: RevisionMerge, Parents: []string{m.head.ID, m.branch.ID},
			ChangeRequestID: &row.ID, CreatedBy: &userID,
		}
		id, err := insertContent(ctx, q, after, m.changed)
		if err != nil {
			return err
		}
		if m.branch.Branch != row.SpaceID {
			if err := mergeFiles(ctx, q, m.branch, after.Seq); err != nil {
				return err
			}
		}
		if err := setHead(ctx, q, space, id); err != nil {
			return err
		}
		row.RevisionMerged, after.ID = &id, id
		if err := confirmGit(ctx, q, space, *row, after); err != nil {
			return err
		}
		if err := m.forget(ctx, q, row.ID); err != nil {
			return err
		}
		if err := s.Sites.Annotate(ctx, q, sites.MergeOccasion, sites.Happening{
			Space: space.ID, Title: space.Title, Pages: m.changed.Pages(), ChangeRequest: row.ID, Number: row.Number,
			By: userID,
		}); err != nil {
			return err
		}
		return setStatus(ctx, q, row, schema.ChangeRequestMerged)
	})
	if errors.Is(err, errConflicts) {
		return MergeResult{Revision: changed.ChangeRequest.Revision, Conflicts: true}, nil
	}
	if err != nil {
		return MergeResult{}, err
	}
	return MergeResult{Revision: *changed.ChangeRequest.RevisionMerged}, nil
}

// same reports whether merge rules give the same result for the facts `f` and `as`. Rules use the space's newest
// revision only to decide whether the request is outdated.
func (f MergeFacts) same(as MergeFacts) bool {
	if f.Outdated() == as.Outdated() {
		f.Head = as.Head
	}
	return reflect.DeepEqual(f, as)
}

func mergeFacts(ctx context.Context, q *db.Queries, space Space, row ChangeRequest) (MergeFacts, error) {
	facts := MergeFacts{ChangeRequestRow: ChangeRequestRow{ChangeRequest: row, Head: space.Revision}, SpaceRules: space.MergeRules}
	var err error
	if facts.OrganizationRules, err = q.OrganizationMergeRules(ctx, space.OrganizationID); err != nil {
		return MergeFacts{}, postgres.Interpret(err, "organization")
	}
	if facts.Reviews, err = reviewStates(ctx, q, row); err != nil {
		return MergeFacts{}, err
	}
	facts.People, err = mergePeople(ctx, q, facts)
	return facts, err
}

// Rules returns the effective rules: the space's rules, or the organization's rules if the space inherits rules.
func (f MergeFacts) Rules() (schema.MergeRules, error) {
	space, err := schema.DecodeJSON[schema.MergeRules](f.SpaceRules)
	if err != nil {
		return schema.MergeRules{}, err
	}
	organization, err := schema.DecodeJSON[schema.MergeRules](f.OrganizationRules)
	return space.Or(organization), err
}

// mergePeople returns the current access of reviewers and of users whom the rules name, by user id. If there are no
// rules, it returns nil.
func mergePeople(ctx context.Context, q *db.Queries, f MergeFacts) (map[string]MergePerson, error) {
	rules, err := f.Rules()
	if err != nil || rules.Type != "rules" {
		return nil, err
	}
	ids := rules.People()
	for _, review := range f.Reviews {
		ids = append(ids, review.User)
	}
	if ids = postgres.Distinct(ids); len(ids) == 0 {
		return nil, nil
	}
	people := make(map[string]MergePerson, len(ids))
	users, err := q.UsersByID(ctx, ids)
	if err != nil {
		return nil, postgres.Interpret(err, "users")
	}
	for _, user := range users {
		people[user.ID] = MergePerson{Name: user.DisplayName}
	}
	members, err := q.AccessOfUsers(ctx, db.AccessOfUsersParams{SpaceID: f.ChangeRequest.SpaceID, Users: ids})
	if err != nil {
		return nil, postgres.Interpret(err, "space")
	}
	for _, row := range members {
		people[row.UserID] = MergePerson{
			Name: people[row.UserID].Name, Member: true, Access: postgres.AccessOf(row.Role, row.Level, row.GrantRank),
		}
	}
	return people, nil
}

// setHead makes a revision the content of a locked space. It enqueues the jobs that update the space's search index and
// translations.
func setHead(ctx context.Context, q *db.Queries, space Space, revision string) error {
	following, err := q.SetSpaceHead(ctx, db.SetSpaceHeadParams{ID: space.ID, Revision: revision})
	if err != nil {
		return postgres.Interpret(err, "space")
	}
	if err := postgres.Enqueue(ctx, q, schema.IndexSpace{
		Organization: space.OrganizationID, Space: space.ID,
	}); err != nil {
		return err
	}
	return followSpace(ctx, q, space, following)
}

// UpdateChangeRequest merges the main content into a request. If the request is up to date or has open conflicts, it
// stays unchanged.
func (s *Store) UpdateChangeRequest(ctx context.Context, request ChangeRequest, userID string) (MergeResult, error) {
	changed, err := s.changeRequest(ctx, request, func(q *db.Queries, space Space, row *ChangeRequest) error {
		if err := stillOpen(*row); err != nil {
			return err
		}
		if baseOf(*row) == space.Revision {
			return errUnchanged
		}
		m, err := mergeContent(ctx, q, space, *row)
		if err != nil {
			return err
		}
		if row.Revision, err = rebase(ctx, q, *row, m, userID); err != nil {
			return err
		}
		row.RevisionMergedAncestor = &m.head.ID
		return m.forget(ctx, q, row.ID)
	})
	if errors.Is(err, errConflicts) {
		return MergeResult{Revision: changed.ChangeRequest.Revision, Conflicts: true}, nil
	}
	if err != nil {
		return MergeResult{}, err
	}
	return MergeResult{Revision: changed.ChangeRequest.Revision}, nil
}

// rebase makes the space's newest revision the base of a request's branch, so that the branch has only the differences
// from this revision. It returns the request's new revision. If nothing differs, it returns the space's newest
// revision.
func rebase(ctx context.Context, q *db.Queries, row ChangeRequest, m merged, userID string) (string, error) {
	after, err := nextOf(ctx, q, row.ID, m.branch)
	if err != nil {
		return "", err
	}
	after.Type, after.Parents, after.CreatedBy = RevisionUpdate, []string{m.branch.ID, m.head.ID}, &userID
	after.Base, after.BaseSeq = &m.head.Branch, m.head.Seq
	if err := q.EndBranch(ctx, db.EndBranchParams{Branch: row.ID, Seq: after.Seq}); err != nil {
		return "", postgres.Interpret(err, "pages")
	}
	files, err := q.BranchHasFiles(ctx, row.ID)
	if err != nil {
		return "", postgres.Interpret(err, "files")
	}
	if m.changed.None() && !files {
		return m.head.ID, nil
	}
	return insertContent(ctx, q, after, m.changed)
}
