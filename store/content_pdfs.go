package store

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/postgres"
)

// PDF is a PDF of pages of a revision. A job makes the PDF, and its bytes are stored for a while.
type PDF struct {
	SpaceID  string
	Revision string
	// Page is the id of a page. The PDF has this page and the pages below it. If Only is true, the PDF has only this
	// page. If Page is "", the PDF has all pages.
	Page string
	Only bool
	// User is a user who may read all other spaces and collections whose names the PDF shows.
	User string
	// Content is the id of the PDF's bytes. It is "" until the bytes exist.
	Content string
	Size    int64
}

const (
	// maxOpenPDFs is the largest number of a space's PDFs that wait for their job.
	maxOpenPDFs = 20
	pdfsWait    = 30 * time.Second
	// pdfKept is the time for which a PDF is stored after its last use.
	pdfKept = 24 * time.Hour
	// pdfBegun is the age at which stored bytes that belong to no PDF are deleted. It is longer than a job takes to
	// write a PDF.
	pdfBegun = 2 * time.Hour
	// pdfChunk is the number of bytes of a PDF in a row of the table pdf_chunks. While a PDF is written, only this
	// number of its bytes is in memory.
	pdfChunk = 1 << 20
	// MaxPDF is the largest size of a PDF in bytes.
	MaxPDF = 512 << 20
)

// AskPDF returns a PDF, or enqueues the job that makes the PDF and returns the job's id. If the PDF exists, the id is
// "". Requests for the same PDF share a job.
func (s *Store) AskPDF(ctx context.Context, organizationID string, p PDF, key string) (PDF, string, error) {
	id := ""
	err := s.db.InTx(ctx, func(_ pgx.Tx, q *db.Queries) error {
		ask := db.AskPDFParams{SpaceID: p.SpaceID, Key: key, Revision: p.Revision, Page: p.Page, Alone: p.Only}
		row, err := q.AskPDF(ctx, ask)
		if err != nil {
			return postgres.Interpret(err, "space")
		}
		if row.Content != nil {
			p.Content, p.Size = *row.Content, *row.Size
			return nil
		}
		if row.JobID != nil {
			if _, err := q.JobByID(ctx, *row.JobID); err == nil {
				id = postgres.JobText(*row.JobID)
				return nil
			} else if err = postgres.Interpret(err, "job"); !schema.IsCode(err, schema.CodeNotFound) {
				return err
			} // The job may have been deleted, because jobs are deleted some time after they have ended.
		}
		open, err := q.OpenPDFs(ctx, p.SpaceID)
		if err != nil {
			return postgres.Interpret(err, "PDF")
		}
		if open > maxOpenPDFs {
			return schema.Unavailable(errors.New("too many PDFs of the space wait to be made"), pdfsWait)
		}
		number, err := postgres.EnqueueNew(ctx, q, schema.RenderPDF{
			Organization: organizationID, Space: p.SpaceID, Key: key, User: p.User,
		})
		if err != nil {
			return err
		}
		id = postgres.JobText(number)
		return postgres.Interpret(q.SetPDFJob(ctx, db.SetPDFJobParams{
			JobID: number, SpaceID: p.SpaceID, Key: key,
		}), "PDF")
	})
	return p, id, err
}

// PDF reads the state of a requested PDF.
func (s *Store) PDF(ctx context.Context, spaceID, key string) (PDF, error) {
	row, err := s.db.Queries.PDFByKey(ctx, db.PDFByKeyParams{SpaceID: spaceID, Key: key})
	if err != nil {
		return PDF{}, postgres.Interpret(err, "PDF")
	}
	p := PDF{SpaceID: row.SpaceID, Revision: row.Revision, Page: row.Page, Only: row.Alone}
	if row.Content != nil {
		p.Content, p.Size = *row.Content, *row.Size
	}
	return p, nil
}

// WritePDF stores the output of the function `make` in chunks. If another attempt has already stored the PDF, WritePDF
// deletes its own bytes, because the bytes of both attempts are equal.
func (s *Store) WritePDF(ctx context.Context, spaceID, key string, make func(io.Writer) error) error {
	w := &pdfWriter{ctx: ctx, queries: s.db.Queries, content: schema.NewID()}
	if err := s.db.Queries.BeginPDFContent(ctx, w.content); err != nil {
		return postgres.Interpret(err, "PDF")
	}
	finished := int64(0)
	err := make(w)
	if err == nil {
		err = w.flush()
	}
	if err == nil {
		finish := db.FinishPDFParams{Content: w.content, Size: w.size, SpaceID: spaceID, Key: key}
		finished, err = s.db.Queries.FinishPDF(ctx, finish)
		err = postgres.Interpret(err, "PDF")
	}
	if finished == 0 {
		// If this deletion fails, DeleteOldPDFs deletes the bytes later.
		_ = s.db.Queries.DropPDFContent(context.WithoutCancel(ctx), w.content)
	}
	return err
}

type pdfWriter struct {
	ctx     context.Context
	queries *db.Queries
	content string
	number  int32
	pending []byte
	size    int64
}

// Write adds `p` to the PDF, and stores each full chunk.
func (w *pdfWriter) Write(p []byte) (int, error) {
	if w.size += int64(len(p)); w.size > MaxPDF {
		return 0, &schema.Error{Code: schema.CodeTooLarge, Message: "the PDF would have more than 512 MiB: fetch a part of the pages"}
	}
	for rest := p; len(rest) > 0; {
		n := min(len(rest), pdfChunk-len(w.pending))
		w.pending, rest = append(w.pending, rest[:n]...), rest[n:]
		if len(w.pending) == pdfChunk {
			if err := w.flush(); err != nil {
				return 0, err
			}
		}
	}
	return len(p), nil
}

func (w *pdfWriter) flush() error {
	if len(w.pending) == 0 {
		return nil
	}
	err := w.queries.AddPDFChunk(w.ctx, db.AddPDFChunkParams{Content: w.content, Number: w.number, Bytes: w.pending})
	w.number, w.pending = w.number+1, w.pending[:0]
	return postgres.Interpret(err, "PDF")
}

// ReadPDF reads the bytes of a PDF, piece by piece.
func (s *Store) ReadPDF(ctx context.Context, p PDF) *postgres.Pieces {
	return postgres.NewPieces(ctx, p.Size, func(ctx context.Context, at int64, most int) ([]byte, error) {
		piece, err := s.db.Queries.PDFPiece(ctx, db.PDFPieceParams{
			Content: p.Content, Number: int32(at / pdfChunk), Position: int32(at%pdfChunk) + 1, Most: int32(most),
		})
		return piece, postgres.Interpret(err, "PDF")
	})
}

// DeleteOldPDFs deletes PDFs that were not used for the time pdfKept, and bytes of failed attempts. Each call deletes a
// limited number. `more` is true if more old PDFs or bytes may be left.
func (s *Store) DeleteOldPDFs(ctx context.Context) (more bool, err error) {
	pdfs, err := s.db.Queries.DeleteOldPDFs(ctx, db.DeleteOldPDFsParams{
		Kept: postgres.Interval(pdfKept), Size: postgres.PurgeLarge,
	})
	if err != nil {
		return false, postgres.Interpret(err, "PDFs")
	}
	contents, err := s.db.Queries.DeleteOldPDFContents(ctx, db.DeleteOldPDFContentsParams{
		Kept: postgres.Interval(pdfBegun), Size: postgres.PurgeLarge,
	})
	return pdfs == postgres.PurgeLarge || contents == postgres.PurgeLarge, postgres.Interpret(err, "PDFs")
}
