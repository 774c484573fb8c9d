package store

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/content/tree"
	"github.com/octavo-docs/octavo/store/db"
)

// ContentChange is what a user changes in the content of a change request, all or nothing.
type ContentChange struct {
	UserID string
	Pages  []tree.Change
	// Names are the fields of Pages in the request, for error messages.
	Names []string
	// Documents are those that Pages name, and Files are added.
	Documents []Document
	Files     []NewFile
}

// ChangeContent gives an open request or a draft a new revision, unless the changes leave everything as it is.
func (s *Store) ChangeContent(ctx context.Context, request ChangeRequest, change ContentChange) (ChangeRequestRow, error) {
	return s.changeRequest(ctx, request, func(q *db.Queries, space Space, row *ChangeRequest) error {
		if err := stillOpen(*row); err != nil {
			return err
		}
		found, err := revisions(ctx, q, row.SpaceID, row.Revision)
		if err != nil {
			return err
		}
		before := found[row.Revision]
		pages, err := tree.Apply(before.Pages, change.Pages, schema.NewID, time.Now().UTC().Truncate(time.Millisecond))
		if refused, ok := errors.AsType[*tree.Problem](err); ok {
			return schema.Invalid(change.Names[refused.Change]+"."+refused.Member, refused.Text)
		}
		if tree.Equal(before.Pages, pages) && len(change.Files) == 0 {
			return errUnchanged
		}
		if err := insertDocuments(ctx, q, row.OrganizationID, change.Documents); err != nil {
			return err
		}
		files, err := insertFiles(ctx, q, row.OrganizationID, before.Files, change.Files)
		if err != nil {
			return err
		}
		if len(change.Files) > 0 {
			if err := s.within(ctx, q, quotaFileBytes, row.OrganizationID); err != nil {
				return err
			}
		}
		row.Revision, err = insertRevision(ctx, q, Revision{
			SpaceID: row.SpaceID, Type: RevisionEdits, Parents: []string{before.ID}, Pages: pages, Files: files, CreatedBy: &change.UserID,
		})
		if err != nil {
			return err
		}
		return addContributor(ctx, q, row.ID, change.UserID)
	})
}

// stillOpen refuses to change the content of a merged or archived request.
func stillOpen(row ChangeRequest) error {
	if row.Status == schema.ChangeRequestMerged || row.Status == schema.ChangeRequestArchived {
		return schema.Conflict("the change request is " + row.Status)
	}
	return nil
}

// merged is the result of merging the main content and a request.
type merged struct {
	head, branch Revision
	pages        []tree.Page
	files        []File
	// changed says whether the request has changes of its own.
	changed bool
}

// errConflicts ends a transaction that must change nothing, because both sides changed the content.
var errConflicts = errors.New("both sides changed the content")

// mergeContent merges the head of a locked space and a request.
func mergeContent(ctx context.Context, q *db.Queries, space Space, row ChangeRequest) (merged, error) {
	found, err := revisions(ctx, q, row.SpaceID, baseOf(row), space.Revision, row.Revision)
	if err != nil {
		return merged{}, err
	}
	base, head, branch := found[baseOf(row)], found[space.Revision], found[row.Revision]
	pages, ok := tree.Merge(base.Pages, head.Pages, branch.Pages)
	if !ok {
		return merged{}, errConflicts
	}
	return merged{
		head: head, branch: branch, pages: pages, files: mergeFiles(head.Files, branch.Files),
		changed: !tree.Equal(base.Pages, branch.Pages) || !slices.Equal(base.Files, branch.Files),
	}, nil
}

// mergeFiles takes the files of both sides; files are never removed.
func mergeFiles(head, branch []File) []File {
	all := slices.Clone(head)
	for _, file := range branch {
		if !slices.ContainsFunc(head, func(f File) bool { return f.ID == file.ID }) {
			all = append(all, file)
		}
	}
	return all
}

// MergeResult is the result of a merge or an update: the new revision, or that conflicts prevented it.
type MergeResult struct {
	Revision  string
	Conflicts bool
}

// MergeFacts are what decides whether a change request may be merged. They are read under the locks of the merge, so nothing
// that they say about the request can change before it is merged.
type MergeFacts struct {
	ChangeRequestRow
	// SpaceRules and OrganizationRules are JSON.
	SpaceRules        []byte
	OrganizationRules []byte
	// Reviews has everybody who is asked to review the request or has reviewed it.
	Reviews []schema.ReviewState
}

// MergeChangeRequest makes the content of a request that of its space, with a new revision. allow sees the facts, locked, and
// may refuse. A request without changes is merged too: nothing speaks against it.
func (s *Store) MergeChangeRequest(
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
		id, err := insertRevision(ctx, q, Revision{
			SpaceID: row.SpaceID, Type: RevisionMerge, Parents: []string{m.head.ID, m.branch.ID}, Pages: m.pages, Files: m.files,
			ChangeRequestID: &row.ID, CreatedBy: &userID,
		})
		if err != nil {
			return err
		}
		if err := setHead(ctx, q, space, id, m.pages); err != nil {
			return err
		}
		row.RevisionMerged = &id
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

func mergeFacts(ctx context.Context, q *db.Queries, space Space, row ChangeRequest) (MergeFacts, error) {
	facts := MergeFacts{ChangeRequestRow: ChangeRequestRow{ChangeRequest: row, Head: space.Revision}, SpaceRules: space.MergeRules}
	var err error
	if facts.OrganizationRules, err = q.OrganizationMergeRules(ctx, space.OrganizationID); err != nil {
		return MergeFacts{}, interpret(err, "organization")
	}
	facts.Reviews, err = reviewStates(ctx, q, row)
	return facts, err
}

// setHead makes a revision the content of a locked space.
func setHead(ctx context.Context, q *db.Queries, space Space, revision string, pages []tree.Page) error {
	if err := q.SetSpaceHead(ctx, db.SetSpaceHeadParams{ID: space.ID, Revision: revision}); err != nil {
		return interpret(err, "space")
	}
	return indexPages(ctx, q, space, pages)
}

// UpdateChangeRequest merges the main content into a request. A request that is up to date stays as it is.
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
		row.Revision, row.RevisionMergedAncestor = m.head.ID, &m.head.ID
		if m.changed {
			row.Revision, err = insertRevision(ctx, q, Revision{
				SpaceID: row.SpaceID, Type: RevisionUpdate, Parents: []string{m.branch.ID, m.head.ID}, Pages: m.pages, Files: m.files,
				CreatedBy: &userID,
			})
		}
		return err
	})
	if errors.Is(err, errConflicts) {
		return MergeResult{Revision: changed.ChangeRequest.Revision, Conflicts: true}, nil
	}
	if err != nil {
		return MergeResult{}, err
	}
	return MergeResult{Revision: changed.ChangeRequest.Revision}, nil
}
