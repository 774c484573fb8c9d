package jobs

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/octavo-docs/octavo/api/jobs/book"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content/pagelinks"
	"github.com/octavo-docs/octavo/schema/content/pdf"
	"github.com/octavo-docs/octavo/schema/content/tree"
	"github.com/octavo-docs/octavo/store"
)

func renderPDF(ctx context.Context, d Deps, args schema.RenderPDF) error {
	wanted, err := d.Store.PDF(ctx, args.Space, args.Key)
	if schema.IsCode(err, schema.CodeNotFound) {
		return nil // The space is deleted, or nobody has requested the PDF for a day.
	}
	if err != nil || wanted.Content != "" {
		return err
	}
	if d.Renderer == nil {
		return &schema.Error{Code: schema.CodeUnavailable, Message: "the node that ran the job has no PDF renderer"}
	}
	source, err := pdfSource(ctx, d.Store, wanted, store.Sight{UserID: args.User})
	if err != nil {
		return err
	}
	maker := book.Config{Renderer: d.Renderer, Memory: d.PDFMemory}
	err = d.Store.WritePDF(ctx, args.Space, args.Key, func(out io.Writer) error {
		return maker.Write(ctx, source, out)
	})
	var public interface{ Public() string }
	if errors.As(err, &public) {
		err = &schema.Error{Code: schema.CodeUnavailable, Message: public.Public(), Cause: err}
	}
	var final interface{ Final() bool }
	if errors.As(err, &final) && final.Final() {
		return GiveUp(err)
	}
	return err
}

// pdfSource returns the source of a PDF. Its texts and images are read from the store only when they are sent to the
// renderer. Blocks that refer to reusable contents are replaced by these contents. The PDF omits hidden pages and the
// pages below them. If the requested page itself is hidden, the PDF has it. Pages that are links have no text and are
// omitted.
func pdfSource(ctx context.Context, st *store.Store, wanted store.PDF, by store.Sight) (pdf.Source, error) {
	space, err := st.SpaceByID(ctx, wanted.SpaceID)
	if err != nil {
		return pdf.Source{}, err
	}
	revision, err := st.Revision(ctx, wanted.SpaceID, wanted.Revision)
	if err != nil {
		return pdf.Source{}, err
	}
	pages, err := st.Pages(ctx, wanted.SpaceID, wanted.Revision)
	if err != nil {
		return pdf.Source{}, err
	}
	files, err := st.Files(ctx, wanted.SpaceID, wanted.Revision)
	if err != nil {
		return pdf.Source{}, err
	}
	byID := make(map[string]store.File, len(files))
	for _, file := range files {
		byID[file.ID] = file
	}
	paths := map[string]string{}
	tree.Walk(pages, func(p tree.Placed) bool {
		paths[p.ID] = p.Path
		return true
	})
	if wanted.Page != "" {
		found, ok := tree.Find(pages, wanted.Page)
		if !ok {
			return pdf.Source{}, schema.NotFound("page")
		}
		pages = []tree.Page{*found.Page}
		if wanted.Only {
			pages[0].Pages = nil
		}
	}
	source := pdf.Source{
		Title: space.Title, Emoji: space.Emoji, Language: schema.Or(space.Language, ""), Date: revision.CreatedAt.UTC().Format(time.DateOnly),
		Image: func(id string) ([]byte, error) {
			file, ok := byID[id]
			if !ok || file.Size > pdf.MaxImage {
				return nil, nil
			}
			return st.FileContent(ctx, wanted.SpaceID, file.Hash)
		},
	}
	if wanted.Page != "" {
		source.Subtitle = pages[0].Title
	}
	var documents []string
	if wanted.Page != "" {
		pages[0].Hidden = false
	}
	addPages(&source, &documents, pages, 0)
	source.Document = func(i int) (schema.Document, error) {
		if err := ctx.Err(); err != nil || documents[i] == "" {
			return schema.Document{}, err
		}
		found, err := st.Documents(ctx, wanted.SpaceID, documents[i:i+1])
		if err != nil {
			return schema.Document{}, err
		}
		self := pagelinks.Page{ID: source.Pages[i].ID, Path: paths[source.Pages[i].ID]}
		d, err := st.Expanded(ctx, wanted.SpaceID, wanted.Revision, found[documents[i]].Document, nil)
		if err == nil {
			d, err = st.Linked(ctx, wanted.SpaceID, wanted.Revision, self, d)
		}
		if err != nil {
			return schema.Document{}, err
		}
		return st.NamedInText(ctx, by, wanted.SpaceID, wanted.Revision, d)
	}
	return source, nil
}

func addPages(s *pdf.Source, documents *[]string, pages []tree.Page, level int) {
	for _, page := range pages {
		if page.Kind == tree.KindLink || page.Hidden {
			continue
		}
		s.Pages = append(s.Pages, pdf.Page{ID: page.ID, Title: page.Title, Emoji: page.Emoji, Description: page.Description, Level: level})
		*documents = append(*documents, page.Document)
		addPages(s, documents, page.Pages, level+1)
	}
}
