package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/postgres"
)

// GitAsset is a file that joins a space with the id that documents already use.
type GitAsset struct {
	ID, Name, ContentType string
	Load                  func() ([]byte, error)
}

const (
	gitCleaning = 10 * time.Second
	// quotaEvery is the number of bytes of stored files between two checks of the quota. A check reads the sizes of all
	// files.
	quotaEvery = 16 << 20
)

// load stores the files one at a time, because together they may be larger than memory. It commits each file
// immediately. With one long transaction, an import that has stored a file and waits for the space could deadlock with
// an editor who stores the same file.
func (i *gitImporter) load() error {
	unchecked := 0
	for n, asset := range i.in.Assets {
		if i.in.Progress != nil {
			i.in.Progress(n, len(i.in.Assets))
		}
		content, err := asset.Load()
		if err != nil {
			return err
		}
		hash, err := insertFileContent(i.ctx, i.store.db.Queries, i.in.Operation.SpaceID, content)
		if err != nil {
			return err
		}
		i.loaded = append(i.loaded, db.InsertFileParams{
			FileID: asset.ID, Name: asset.Name, ContentType: asset.ContentType, Size: int64(len(content)), Hash: hash,
		})
		if unchecked += len(content); unchecked >= quotaEvery {
			unchecked = 0
			if err := i.store.db.Within(
				i.ctx, i.store.db.Queries, postgres.QuotaFileBytes, i.in.Base.Organization,
			); err != nil {
				return err
			}
		}
	}
	return nil
}

// unload deletes the files stored for a failed import. If the space has the same bytes as another file, the bytes stay.
// The writer of such a file holds the lock.
func (i *gitImporter) unload(ctx context.Context) error {
	drop := db.DropUnnamedFilesParams{SpaceID: i.in.Operation.SpaceID}
	for _, row := range i.loaded {
		drop.Hashes = append(drop.Hashes, row.Hash)
	}
	return i.store.db.InTx(ctx, func(_ pgx.Tx, q *db.Queries) error {
		if _, err := q.LockSpace(ctx, drop.SpaceID); err != nil {
			return postgres.Interpret(err, "space")
		}
		return postgres.Interpret(q.DropUnnamedFiles(ctx, drop), "files")
	})
}

// files adds the files to the branch of a revision. On the main content, the removed files end with the previous
// revision. Another branch has the files of its base.
func (i *gitImporter) files(r Revision, id string) error {
	if !i.in.Standalone {
		unnamed, err := i.unnamed(id)
		if err != nil {
			return err
		}
		if len(unnamed) > 0 {
			if err := i.q.EndFiles(i.ctx, db.EndFilesParams{Seq: r.Seq, Branch: r.Branch, Ids: unnamed}); err != nil {
				return postgres.Interpret(err, "files")
			}
		}
	}
	return i.addFiles(r)
}

func (i *gitImporter) addFiles(r Revision) error {
	for _, row := range i.loaded {
		row.Branch, row.Since = r.Branch, r.Seq
		if err := i.q.InsertFile(i.ctx, row); err != nil {
			return postgres.Interpret(err, "file")
		}
	}
	return nil
}
