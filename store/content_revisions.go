package store

import (
	"context"
	"time"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/postgres"
)

// Each constant is a type of revision.
const (
	RevisionEdits  = "edits"
	RevisionMerge  = "merge"
	RevisionUpdate = "update"
)

// Revision is the content of a space or of a change request at one point in time. It never changes. Its pages and files
// are rows of a branch: see the table branch_pages.
type Revision struct {
	ID      string
	SpaceID string
	Type    string
	Parents []string
	// If a merge created the revision, ChangeRequestID is the merged change request. It is nil for other revisions.
	ChangeRequestID *string
	CreatedBy       *string
	CreatedAt       time.Time

	// Branch is the id of the branch: the space's id for the main content, the change request's id, or the id of a Git
	// synchronization or a translation. Seq is the number of the revision in its branch.
	Branch string
	Seq    int32
	// Base and BaseSeq are the branch and the number of another revision. If Base is set, the revision's own branch has
	// only the differences from that revision. If Base is nil, the branch has all pages.
	Base      *string
	BaseSeq   int32
	PageCount int
}

// Revision reads a revision of a space.
func (s *Store) Revision(ctx context.Context, spaceID, id string) (Revision, error) {
	return revision(ctx, s.db.Queries, spaceID, id)
}

func revision(ctx context.Context, q *db.Queries, spaceID, id string) (Revision, error) {
	row, err := q.RevisionByID(ctx, db.RevisionByIDParams{SpaceID: spaceID, ID: id})
	if err != nil {
		return Revision{}, postgres.Interpret(err, "revision")
	}
	return readRevision(row), nil
}

// revisions reads revisions by id. It returns an error if a revision does not exist.
func revisions(ctx context.Context, q *db.Queries, spaceID string, ids ...string) (map[string]Revision, error) {
	rows, err := q.RevisionsByID(ctx, db.RevisionsByIDParams{SpaceID: spaceID, Ids: ids})
	if err != nil {
		return nil, postgres.Interpret(err, "revisions")
	}
	found := make(map[string]Revision, len(rows))
	for _, row := range rows {
		found[row.ID] = readRevision(row)
	}
	for _, id := range ids {
		if _, ok := found[id]; !ok {
			return nil, schema.NotFound("revision")
		}
	}
	return found, nil
}

func readRevision(row db.Revision) Revision {
	return Revision{
		ID: row.ID, SpaceID: row.SpaceID, Type: row.Type, Parents: row.Parents, ChangeRequestID: row.ChangeRequestID,
		CreatedBy: row.CreatedBy, CreatedAt: row.CreatedAt, Branch: row.Branch, Seq: row.Seq, Base: row.Base, BaseSeq: row.BaseSeq,
		PageCount: int(row.PageCount),
	}
}

// insertRevision stores a revision under a new id, and returns the id.
func insertRevision(ctx context.Context, q *db.Queries, r Revision) (string, error) {
	id := schema.NewID()
	err := q.InsertRevision(ctx, db.InsertRevisionParams{
		ID: id, SpaceID: r.SpaceID, Branch: r.Branch, Seq: r.Seq, Base: r.Base, BaseSeq: r.BaseSeq,
		PageCount: int32(r.PageCount), // a revision has at most tree.MaxPages pages
		Type:      r.Type, Parents: postgres.NotNil(r.Parents), ChangeRequestID: r.ChangeRequestID,
		CreatedBy: r.CreatedBy,
	})
	return id, postgres.Interpret(err, "revision")
}

// nextOf returns the revision of a change request that follows the revision `r`. If `r` is on the request's branch,
// the next revision has the same base as `r`. Otherwise the request has no own changes yet, and `r` becomes the base.
func nextOf(ctx context.Context, q *db.Queries, request string, r Revision) (Revision, error) {
	next := Revision{SpaceID: r.SpaceID, Parents: []string{r.ID}, Branch: request, Base: r.Base, BaseSeq: r.BaseSeq, Seq: r.Seq + 1}
	if r.Branch == request {
		return next, nil
	}
	next.Base, next.BaseSeq = &r.Branch, r.Seq
	last, err := q.LastOfBranch(ctx, request)
	next.Seq = last + 1
	return next, postgres.Interpret(err, "revision")
}
