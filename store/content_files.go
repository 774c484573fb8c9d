package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content/filerefs"
	"github.com/octavo-docs/octavo/schema/content/imagesize"
	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/postgres"
)

// File is a file of a revision.
type File struct {
	ID          string
	Name        string
	ContentType string
	Size        int64
	Hash        string
	// Width and Height are the size of an image in pixels. They are 0 for other files. Only Store.Files sets them.
	Width, Height int
}

// NewFile is a file that is added to a revision.
type NewFile struct {
	Name        string
	ContentType string
	Content     []byte
}

// insertFiles adds files to a branch. The new revision `r` is the first revision that has them.
func insertFiles(ctx context.Context, q *db.Queries, r Revision, added []NewFile) error {
	for _, file := range added {
		if err := insertFile(ctx, q, r, schema.NewID(), file); err != nil {
			return err
		}
	}
	return nil
}

func insertFile(ctx context.Context, q *db.Queries, r Revision, id string, file NewFile) error {
	hash, err := insertFileContent(ctx, q, r.SpaceID, file.Content)
	if err != nil {
		return err
	}
	err = q.InsertFile(ctx, db.InsertFileParams{
		Branch: r.Branch, Since: r.Seq, FileID: id, Name: file.Name, ContentType: file.ContentType, Size: int64(len(file.Content)), Hash: hash,
	})
	return postgres.Interpret(err, "file")
}

// insertFileContent stores the bytes of a file of a space, and returns their hash.
func insertFileContent(ctx context.Context, q *db.Queries, spaceID string, content []byte) (hash string, err error) {
	refs, err := postgres.ToJSON(filerefs.OfFile(content))
	if err != nil {
		return "", err
	}
	hash = postgres.HashOf(content)
	width, height := imagesize.Of(content)
	err = q.InsertFileContent(ctx, db.InsertFileContentParams{
		SpaceID: spaceID, Hash: hash, Content: content, FileRefs: refs, Width: int32(width), Height: int32(height),
	})
	return hash, postgres.Interpret(err, "file")
}

// mergeFiles adds the files of a change request to the main content, in the merge's new revision.
func mergeFiles(ctx context.Context, q *db.Queries, branch Revision, since int32) error {
	merge := db.MergeFilesParams{Main: branch.SpaceID, Branch: branch.Branch, Seq: branch.Seq, Since: since}
	return postgres.Interpret(q.MergeFiles(ctx, merge), "files")
}

// Files lists the files of a revision.
func (s *Store) Files(ctx context.Context, spaceID, revisionID string) ([]File, error) {
	rows, err := s.db.Queries.FilesOfRevision(ctx, db.FilesOfRevisionParams{SpaceID: spaceID, Revision: revisionID})
	files := make([]File, len(rows))
	for i, row := range rows {
		files[i] = File{
			ID: row.FileID, Name: row.Name, ContentType: row.ContentType, Size: row.Size, Hash: row.Hash,
			Width: int(row.Width), Height: int(row.Height),
		}
	}
	return files, postgres.Interpret(err, "files")
}

// File reads a file of a revision.
func (s *Store) File(ctx context.Context, spaceID, revisionID, id string) (File, error) {
	row, err := s.db.Queries.FileOfRevision(ctx, db.FileOfRevisionParams{
		SpaceID: spaceID, Revision: revisionID, FileID: id,
	})
	return File{
		ID: row.FileID, Name: row.Name, ContentType: row.ContentType, Size: row.Size, Hash: row.Hash,
	}, postgres.Interpret(err, "file")
}

// Includes reads the contents of files of a revision, by id. It leaves out files with more than `most` bytes.
func (s *Store) Includes(ctx context.Context, spaceID, revisionID string, ids []string, most int) (map[string][]byte, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	rows, err := s.db.Queries.IncludesOfRevision(ctx, db.IncludesOfRevisionParams{
		SpaceID: spaceID, Revision: revisionID, FileIds: ids, Most: int64(most),
	})
	if err != nil {
		return nil, postgres.Interpret(err, "files")
	}
	found := make(map[string][]byte, len(rows))
	for _, row := range rows {
		found[row.FileID] = row.Content
	}
	return found, nil
}

// FileContent reads the bytes of a file of a space.
func (s *Store) FileContent(ctx context.Context, spaceID, hash string) ([]byte, error) {
	content, err := s.db.Queries.FileByHash(ctx, db.FileByHashParams{SpaceID: spaceID, Hash: hash})
	return content, readError(err, hash)
}

// readError returns the error for a failed read of a file's bytes. If the database lacks the bytes of a file that
// stored content refers to, the error says that data is damaged.
func readError(err error, hash string) error {
	if errors.Is(err, pgx.ErrNoRows) {
		return schema.Damaged(schema.StorePostgres, fmt.Errorf("%w: file %s", errLost, hash))
	}
	return postgres.Interpret(err, "file")
}

// ReadFile reads the bytes of a file of a space, piece by piece.
func (s *Store) ReadFile(ctx context.Context, spaceID string, file File) *postgres.Pieces {
	return postgres.NewPieces(ctx, file.Size, func(ctx context.Context, at int64, most int) ([]byte, error) {
		piece, err := s.db.Queries.FilePiece(ctx, db.FilePieceParams{
			SpaceID: spaceID, Hash: file.Hash, Position: int32(at) + 1, Most: int32(most),
		})
		return piece, readError(err, file.Hash)
	})
}
