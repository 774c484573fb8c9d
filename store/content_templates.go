package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content/tree"
	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/postgres"
)

// RequestTemplate is a template for change requests, as a row of the table change_request_templates.
type RequestTemplate = db.ChangeRequestTemplate

// TemplatePage is a page that a template adds to a change request. It is stored as JSON, so the JSON names of its
// fields must not change.
type TemplatePage struct {
	Title       string `json:"title"`
	Emoji       string `json:"emoji,omitempty"`
	Icon        string `json:"icon,omitempty"`
	Description string `json:"description,omitempty"`
	Hidden      bool   `json:"hidden,omitzero"`
	// Ref is the name by which later pages of the list refer to this page. Into is the Ref of the page's parent.
	Ref  string `json:"ref,omitempty"`
	Into string `json:"into,omitempty"`
	Text *Text  `json:"text,omitzero"`
}

// TemplatePages are the pages that a template adds, parents before their children.
type TemplatePages []TemplatePage

// NewRequestTemplate has the values of a new template.
type NewRequestTemplate struct {
	SpaceID, Title string
	// Description is JSON. nil means that there is no description.
	Description []byte
	Pages       TemplatePages
}

// CreateRequestTemplate stores a template.
func (s *Store) CreateRequestTemplate(ctx context.Context, template NewRequestTemplate) (RequestTemplate, error) {
	if template.Pages == nil {
		template.Pages = TemplatePages{}
	}
	pages, err := postgres.ToJSON(template.Pages)
	if err != nil {
		return RequestTemplate{}, err
	}
	var row RequestTemplate
	err = s.db.InTx(ctx, func(_ pgx.Tx, q *db.Queries) error {
		if _, err := q.LockSpace(ctx, template.SpaceID); err != nil {
			return postgres.Interpret(err, "space")
		}
		total, err := q.CountRequestTemplates(ctx, template.SpaceID)
		if err != nil {
			return postgres.Interpret(err, "templates")
		}
		if total >= maxRequestTemplates {
			return schema.Forbidden(fmt.Sprintf("a space has at most %d templates", maxRequestTemplates))
		}
		row, err = q.InsertRequestTemplate(ctx, db.InsertRequestTemplateParams{
			ID: schema.NewID(), SpaceID: template.SpaceID, Title: template.Title, Description: template.Description, Pages: string(pages),
		})
		return postgres.Interpret(err, "template")
	})
	return row, err
}

// maxRequestTemplates is the largest number of templates of a space.
const maxRequestTemplates = 100

// Content returns the first content change of a change request that is created from the template. It returns nil if the
// template has no pages.
func (t TemplatePages) Content(userID string) (*ContentChange, error) {
	if len(t) == 0 {
		return nil, nil // a template without pages changes no content
	}
	change := &ContentChange{UserID: userID}
	for _, page := range t {
		insert := tree.Insert{Kind: tree.KindDocument, Ref: page.Ref, Attributes: tree.Attributes{Title: &page.Title}}
		insert.Emoji, insert.Icon, insert.Description, insert.Hidden = &page.Emoji, &page.Icon, &page.Description, &page.Hidden
		if page.Into != "" {
			insert.Into = &page.Into
		}
		if page.Text != nil {
			document, err := NewDocument(*page.Text)
			if err != nil {
				return nil, err
			}
			change.Documents = append(change.Documents, document)
			insert.Document = &document.Hash
		}
		change.Pages, change.Names = append(change.Pages, insert), append(change.Names, "template")
	}
	return change, nil
}

// PagesOf reads the pages of a template.
func PagesOf(template RequestTemplate) (TemplatePages, error) {
	return postgres.FromJSON[TemplatePages]([]byte(template.Pages))
}

// RequestTemplate reads a template of a space.
func (s *Store) RequestTemplate(ctx context.Context, spaceID, id string) (RequestTemplate, error) {
	row, err := s.db.Queries.RequestTemplate(ctx, db.RequestTemplateParams{SpaceID: spaceID, ID: id})
	return row, postgres.Interpret(err, "template")
}

// ListRequestTemplates lists the templates of a space, after the id `after`.
func (s *Store) ListRequestTemplates(
	ctx context.Context, spaceID, after string, size int,
) (postgres.Page[RequestTemplate], error) {
	total, err := s.db.Queries.CountRequestTemplates(ctx, spaceID)
	if err != nil {
		return postgres.Page[RequestTemplate]{}, postgres.Interpret(err, "templates")
	}
	rows, err := s.db.Queries.ListRequestTemplates(ctx, db.ListRequestTemplatesParams{
		SpaceID: spaceID, After: after, PageSize: postgres.PageSize(size),
	})
	if err != nil {
		return postgres.Page[RequestTemplate]{}, postgres.Interpret(err, "templates")
	}
	return postgres.PageOf(rows, size, total), nil
}

// DeleteRequestTemplate deletes a template. It succeeds if the template does not exist. Change requests that were
// created from the template stay.
func (s *Store) DeleteRequestTemplate(ctx context.Context, spaceID, id string) error {
	return postgres.Interpret(s.db.Queries.DeleteRequestTemplate(ctx, db.DeleteRequestTemplateParams{
		SpaceID: spaceID, ID: id,
	}), "template")
}
