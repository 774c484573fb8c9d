package store

import (
	"context"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/postgres"
)

// PurgeContent deletes the pages, texts and files of deleted spaces. It returns when nothing is left or ctx is done.
// Each statement deletes a limited number of rows. It returns the number of spaces whose content is completely deleted.
func (s *Store) PurgeContent(ctx context.Context) (spaces int, err error) {
	for {
		id, err := s.db.Queries.DeletedSpace(ctx)
		if err := postgres.Interpret(err, "space"); schema.IsCode(err, schema.CodeNotFound) {
			return spaces, nil
		} else if err != nil {
			return spaces, err
		}
		err = s.purgeSpace(ctx, id)
		if ctx.Err() != nil {
			return spaces, nil //nolint:nilerr // The error only reports that the time is over.
		}
		if err != nil {
			return spaces, postgres.Interpret(err, "space")
		}
		spaces++
	}
}

func (s *Store) purgeSpace(ctx context.Context, id string) error {
	q := s.db.Queries
	for {
		branches, err := q.SomeBranches(ctx, db.SomeBranchesParams{SpaceID: id, Size: postgres.PurgeRows})
		if err != nil {
			return err
		}
		if len(branches) == 0 {
			break
		}
		// Revisions are deleted last, because only revisions have the names of the branches.
		err = postgres.PurgeAll([]func() (int64, error){
			func() (int64, error) {
				return q.PurgePages(ctx, db.PurgePagesParams{Branches: branches, Size: postgres.PurgeRows})
			},
			func() (int64, error) {
				return q.PurgeChanges(ctx, db.PurgeChangesParams{Branches: branches, Size: postgres.PurgeRows})
			},
			func() (int64, error) {
				return q.PurgeBranchFiles(ctx, db.PurgeBranchFilesParams{Branches: branches, Size: postgres.PurgeRows})
			},
			func() (int64, error) {
				return q.PurgeRevisions(ctx, db.PurgeRevisionsParams{SpaceID: id, Branches: branches})
			},
		})
		if err != nil {
			return err
		}
	}
	err := postgres.PurgeAll([]func() (int64, error){
		func() (int64, error) {
			return q.PurgeDocuments(ctx, db.PurgeDocumentsParams{SpaceID: id, Size: postgres.PurgeRows})
		},
		func() (int64, error) {
			return q.PurgeFiles(ctx, db.PurgeFilesParams{SpaceID: id, Size: postgres.PurgeLarge})
		},
		func() (int64, error) {
			return q.PurgeSearchPages(ctx, db.PurgeSearchPagesParams{SpaceID: id, Size: postgres.PurgeRows})
		},
		// The space's row in search_spaces is deleted last, because only this row has the number by which the words are
		// found.
		func() (int64, error) {
			return q.PurgeSearchWords(ctx, db.PurgeSearchWordsParams{SpaceID: id, Size: postgres.PurgeRows})
		},
	})
	if err != nil {
		return err
	}
	if err := q.PurgeIndexedSpace(ctx, id); err != nil {
		return err
	}
	return q.ForgetDeletedSpace(ctx, id)
}
