package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/postgres"
)

// GitAsset is a file that an import adds to a space. The imported documents already refer to it by ID. Load returns its
// bytes.
type GitAsset struct {
	ID, Name, ContentType string
	Load                  func() ([]byte, error)
}

const (
	gitCleaning = 10 * time.Second
	// quotaEvery is the number of bytes of stored files between two checks of the quota. A check reads the sizes of all
	// files, so it is not done for each file.
	quotaEvery = 16 << 20
)

// load stores the files one at a time, because all of them together may not fit in memory. It commits each file
// immediately. In one long transaction, an import would hold the lock of a stored file while it waits for the lock of
// the space. The import could then deadlock with an editor who stores the same file.
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

// unload deletes the bytes that were stored for a failed import. Bytes that another file of the space uses stay. A
// writer of such a file holds the lock of the space, so unload locks the space too.
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

// files adds the imported files to the branch of a revision. In the main content, the previous revision is the last
// revision that has the removed files. A standalone import removes no files, because its branch has the files of its
// base.
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
