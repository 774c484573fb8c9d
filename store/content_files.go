package store

import (
	"context"
	"slices"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/db"
)

// NewFile is a file that joins a revision.
type NewFile struct {
	Name        string
	ContentType string
	Content     []byte
}

func insertFiles(ctx context.Context, q *db.Queries, organizationID string, files []File, added []NewFile) ([]File, error) {
	files = slices.Clone(files)
	for _, file := range added {
		hash := hashOf(file.Content)
		err := q.InsertFile(ctx, db.InsertFileParams{OrganizationID: organizationID, Hash: hash, Content: file.Content})
		if err != nil {
			return nil, interpret(err, "file")
		}
		files = append(files, File{
			ID: schema.NewID(), Name: file.Name, ContentType: file.ContentType, Size: int64(len(file.Content)), Hash: hash,
		})
	}
	return files, nil
}

// FileContent reads the bytes of a file of an organization.
func (s *Store) FileContent(ctx context.Context, organizationID, hash string) ([]byte, error) {
	content, err := s.queries.FileByHash(ctx, db.FileByHashParams{OrganizationID: organizationID, Hash: hash})
	return content, interpret(err, "file")
}
