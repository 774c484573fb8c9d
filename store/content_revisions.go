package store

import (
	"context"
	"time"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/content/tree"
	"github.com/octavo-docs/octavo/store/db"
)

// The types of revisions.
const (
	RevisionEdits  = "edits"
	RevisionMerge  = "merge"
	RevisionUpdate = "update"
)

// Revision is the content of a space or of a change request at one time. It never changes.
type Revision struct {
	ID      string
	SpaceID string
	Type    string
	Parents []string
	Pages   []tree.Page
	Files   []File
	// ChangeRequestID is the one that a merge took in.
	ChangeRequestID *string
	CreatedBy       *string
	CreatedAt       time.Time
}

// File is a file of a revision, as it is stored with it: its JSON names must not change.
type File struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	ContentType string `json:"contentType"`
	Size        int64  `json:"size"`
	Hash        string `json:"hash"`
}

// Revision reads a revision of a space.
func (s *Store) Revision(ctx context.Context, spaceID, id string) (Revision, error) {
	row, err := s.queries.RevisionByID(ctx, db.RevisionByIDParams{SpaceID: spaceID, ID: id})
	if err != nil {
		return Revision{}, interpret(err, "revision")
	}
	return readRevision(row)
}

func readRevision(row db.Revision) (Revision, error) {
	r := Revision{
		ID: row.ID, SpaceID: row.SpaceID, Type: row.Type, Parents: row.Parents, ChangeRequestID: row.ChangeRequestID,
		CreatedBy: row.CreatedBy, CreatedAt: row.CreatedAt,
	}
	var err error
	if r.Pages, err = fromJSON[[]tree.Page](row.Pages); err != nil {
		return Revision{}, err
	}
	r.Files, err = fromJSON[[]File](row.Files)
	return r, err
}

// revisions reads the revisions with these ids; each of them must be there.
func revisions(ctx context.Context, q *db.Queries, spaceID string, ids ...string) (map[string]Revision, error) {
	rows, err := q.RevisionsByID(ctx, db.RevisionsByIDParams{SpaceID: spaceID, Ids: ids})
	if err != nil {
		return nil, interpret(err, "revisions")
	}
	found := make(map[string]Revision, len(rows))
	for _, row := range rows {
		if found[row.ID], err = readRevision(row); err != nil {
			return nil, err
		}
	}
	for _, id := range ids {
		if _, ok := found[id]; !ok {
			return nil, schema.NotFound("revision")
		}
	}
	return found, nil
}

// insertRevision stores a revision and gives it its id.
func insertRevision(ctx context.Context, q *db.Queries, r Revision) (string, error) {
	pages, err := toJSON(r.Pages)
	if err != nil {
		return "", err
	}
	files, err := toJSON(r.Files)
	if err != nil {
		return "", err
	}
	id := schema.NewID()
	err = q.InsertRevision(ctx, db.InsertRevisionParams{
		ID: id, SpaceID: r.SpaceID, Type: r.Type, Parents: r.Parents, Pages: pages, Files: files, ChangeRequestID: r.ChangeRequestID,
		CreatedBy: r.CreatedBy,
	})
	return id, interpret(err, "revision")
}
