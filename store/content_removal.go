package store

import (
	"context"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/db"
)

// PurgeContent deletes the pages, texts and files of deleted spaces, a bounded number of rows per statement, until nothing is left or
// ctx ends. It gives the number of spaces of which nothing is left.
func (s *Store) PurgeContent(ctx context.Context) (spaces int, err error) {
	for {
		space, err := s.queries.DeletedSpace(ctx)
		if err := interpret(err, "space"); schema.IsCode(err, schema.CodeNotFound) {
			return spaces, nil
		} else if err != nil {
			return spaces, err
		}
		err = s.purgeSpace(ctx, space)
		if ctx.Err() != nil {
			return spaces, nil //nolint:nilerr // The error only says that the time is over.
		}
		if err != nil {
			return spaces, interpret(err, "space")
		}
		spaces++
	}
}

func (s *Store) purgeSpace(ctx context.Context, space db.DeletedSpaceRow) error {
	q, id := s.queries, space.ID
	err := purgeAll([]func() (int64, error){
		func() (int64, error) {
			return q.PurgePages(ctx, db.PurgePagesParams{Branches: space.Branches, Size: purgeRows})
		},
		func() (int64, error) {
			return q.PurgeChanges(ctx, db.PurgeChangesParams{Branches: space.Branches, Size: purgeRows})
		},
		func() (int64, error) {
			return q.PurgeBranchFiles(ctx, db.PurgeBranchFilesParams{Branches: space.Branches, Size: purgeRows})
		},
		func() (int64, error) {
			return q.PurgeDocuments(ctx, db.PurgeDocumentsParams{SpaceID: id, Size: purgeRows})
		},
		func() (int64, error) { return q.PurgeFiles(ctx, db.PurgeFilesParams{SpaceID: id, Size: purgeLarge}) },
	})
	if err != nil {
		return err
	}
	return q.ForgetDeletedSpace(ctx, id)
}
