package store

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content"
	"github.com/octavo-docs/octavo/schema/content/tree"
	"github.com/octavo-docs/octavo/schema/content/words"
	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/postgres"
)

// Document is the stored form of a document. Hash is the hash of Content, its canonical JSON. So a document with a
// given hash never changes.
type Document struct {
	Hash    string
	Content []byte
	// refs is the list of files to which the document refers, as JSON.
	refs  []byte
	words int32
}

// Text is a document. If the document was made from a Markdown text, Markdown is this text. The document and its
// Markdown are stored as one JSON object. So equal documents from different Markdown have different hashes.
type Text struct {
	schema.Document
	Markdown *string `json:"markdown,omitzero"`
}

// NewDocument returns the stored form of a document. The caller must have normalized and checked the document.
func NewDocument(t Text) (Document, error) {
	encoded, err := postgres.ToJSON(t)
	if err != nil {
		return Document{}, err
	}
	refs, err := fileRefsOf(encoded, t)
	return Document{Hash: postgres.HashOf(encoded), Content: encoded, refs: refs, words: wordsOf(t)}, err
}

// wordsOf returns the number of words of a document. The size of a document is limited, so the number fits into an
// int32.
func wordsOf(t Text) int32 { return int32(words.Count(content.Plain(t.Document))) }

func insertDocuments(ctx context.Context, q *db.Queries, spaceID string, documents []Document) error {
	byHash := make(map[string]Document, len(documents))
	for _, d := range documents {
		byHash[d.Hash] = d
	}
	for hashes := range slices.Chunk(slices.Sorted(maps.Keys(byHash)), pagesAtOnce) {
		insert := db.InsertDocumentsParams{SpaceID: spaceID, Hashes: hashes}
		for _, hash := range hashes {
			insert.Contents = append(insert.Contents, byHash[hash].Content)
			insert.FileRefs = append(insert.FileRefs, string(byHash[hash].refs))
			insert.Words = append(insert.Words, byHash[hash].words)
		}
		if err := q.InsertDocuments(ctx, insert); err != nil {
			return postgres.Interpret(err, "document")
		}
	}
	return nil
}

// errLost marks errors about missing documents and files. Stored content refers to them, but the database does not
// have them.
var errLost = errors.New("contents that stored content names are missing")

// lostDocument returns the error about a document to which stored content refers, but which the database does not have.
// A damaged disk can cause this, because Postgres reads a page of zeros as an empty page.
func lostDocument(hash string) error {
	return schema.Damaged(schema.StorePostgres, fmt.Errorf("%w: document %s", errLost, hash))
}

// Document reads a document of a space by a hash from a request. It returns not_found if the space does not have the
// document.
func (s *Store) Document(ctx context.Context, spaceID, hash string) (Text, error) {
	found, err := documents(ctx, s.db.Queries, spaceID, []string{hash})
	if errors.Is(err, errLost) {
		err = schema.NotFound("document")
	}
	return found[hash], err
}

// Documents reads documents of a space by hashes from stored content. If a document is missing, the data is damaged,
// because documents are stored before the revisions that refer to them.
func (s *Store) Documents(ctx context.Context, spaceID string, hashes []string) (map[string]Text, error) {
	return documents(ctx, s.db.Queries, spaceID, hashes)
}

func documents(ctx context.Context, q *db.Queries, spaceID string, hashes []string) (map[string]Text, error) {
	if len(hashes) == 0 {
		return nil, nil
	}
	rows, err := q.DocumentsByHash(ctx, db.DocumentsByHashParams{SpaceID: spaceID, Hashes: hashes})
	if err != nil {
		return nil, postgres.Interpret(err, "documents")
	}
	found := make(map[string]Text, len(rows))
	for _, row := range rows {
		if found[row.Hash], err = postgres.FromJSON[Text](row.Content); err != nil {
			return nil, err
		}
	}
	for _, hash := range hashes {
		if _, ok := found[hash]; !ok {
			return nil, lostDocument(hash)
		}
	}
	return found, nil
}

// DocumentsWithin reads documents in the order of hashes. It stops before their total size exceeds a number of bytes,
// but reads at least one document. `read` is the number of hashes whose documents are read. The hash "" stands for a
// page without a document.
func (s *Store) DocumentsWithin(
	ctx context.Context, spaceID string, hashes []string, bytes int64,
) (texts map[string]Text, read int, err error) {
	return documentsWithin(ctx, s.db.Queries, spaceID, hashes, bytes)
}

func documentsWithin(
	ctx context.Context, q *db.Queries, spaceID string, hashes []string, bytes int64,
) (texts map[string]Text, read int, err error) {
	wanted := slices.DeleteFunc(postgres.Distinct(hashes), func(hash string) bool { return hash == "" })
	if len(wanted) == 0 {
		return nil, len(hashes), nil
	}
	rows, err := q.DocumentSizes(ctx, db.DocumentSizesParams{SpaceID: spaceID, Hashes: wanted})
	if err != nil {
		return nil, 0, postgres.Interpret(err, "documents")
	}
	sizes := make(map[string]int64, len(rows))
	for _, row := range rows {
		sizes[row.Hash] = row.Size
	}
	var total int64
	for read = range hashes {
		if total += sizes[hashes[read]]; total > bytes && read > 0 {
			hashes = hashes[:read]
			break
		}
	}
	wanted = slices.DeleteFunc(postgres.Distinct(hashes), func(hash string) bool { return hash == "" })
	texts, err = documents(ctx, q, spaceID, wanted)
	return texts, len(hashes), err
}

// SpecDocuments has the documents of a space that refer to an OpenAPI specification, from all revisions. It also has
// the space's newest revision.
type SpecDocuments = db.SpecDocumentsRow

// SpecDocuments finds the documents of spaces that refer to an OpenAPI specification. A space without such documents
// has no row.
func (s *Store) SpecDocuments(ctx context.Context, slug string, spaces []string) ([]SpecDocuments, error) {
	rows, err := s.db.Queries.SpecDocuments(ctx, db.SpecDocumentsParams{Slug: slug, Spaces: spaces})
	return rows, postgres.Interpret(err, "documents")
}

// ShownDocuments returns the hashes whose documents are texts of pages that a visitor sees in a revision. The
// parameter `hashes` must be sorted.
func (s *Store) ShownDocuments(ctx context.Context, spaceID, revisionID string, hashes []string, allows Allows) ([]string, error) {
	pages, err := s.ShownPages(ctx, spaceID, revisionID, allows)
	var shown []string
	tree.Walk(pages, func(p tree.Placed) bool {
		if _, ok := slices.BinarySearch(hashes, p.Document); ok {
			shown = append(shown, p.Document)
		}
		return true
	})
	return shown, err
}
