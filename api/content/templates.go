package content

import (
	"context"
	"fmt"
	"net/http"

	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/api/frame/rules"
	"github.com/octavo-docs/octavo/api/view"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content/tree"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/postgres"
)

// templates has the operations on templates for new change requests.
type templates struct {
	store *store.Store
	view  view.Presenter
}

func templateOperations(h *templates) []frame.Operation {
	const tag, path = "change-requests", "/spaces/{spaceId}/change-request-templates"
	return []frame.Operation{
		{
			Method: http.MethodGet, Path: path, ID: "listChangeRequestTemplates", Tag: tag,
			Doc:   "List the templates for change requests of a space.",
			Scope: access.Having(access.RightAccess, access.OnSpace), Status: http.StatusOK, Handler: frame.Handle(h.list),
		},
		{
			Method: http.MethodPost, Path: path, ID: "createChangeRequestTemplate", Tag: tag,
			Doc:   "Create a template for change requests of a space: a title, a description, and pages that such a request adds.",
			Scope: access.Having(access.RightEdit, access.OnSpace), Status: http.StatusCreated,
			BodyLimit: contentBodyLimit, Accepts: frame.MediaJSON, Handler: frame.Handle(h.create),
		},
		{
			Method: http.MethodGet, Path: path + "/{templateId}", ID: "getChangeRequestTemplate", Tag: tag,
			Doc:   "Read a template for change requests.",
			Scope: access.Having(access.RightAccess, access.OnSpace), Status: http.StatusOK, Handler: frame.Handle(h.get),
		},
		{
			Method: http.MethodDelete, Path: path + "/{templateId}", ID: "deleteChangeRequestTemplate", Tag: tag,
			Doc:   "Delete a template for change requests. Requests that were made of it stay.",
			Scope: access.Having(access.RightEdit, access.OnSpace), Status: http.StatusNoContent, Handler: frame.Handle(h.delete),
		},
	}
}

func (h *templates) list(ctx context.Context, c *access.Caller, r *schema.PageRequest) (schema.List[schema.ChangeRequestTemplate], error) {
	space := c.Space.Space.ID
	return frame.ListMadePage(ctx, "templates "+space, *r,
		func(after string, size int) (postgres.Page[store.RequestTemplate], error) {
			return h.store.ListRequestTemplates(ctx, space, after, size)
		},
		h.view.RequestTemplate, func(row store.RequestTemplate) string { return row.ID })
}

type createTemplateRequest struct {
	Body struct {
		Title       *string           `json:"title" rules:"required,len=1..100,pattern=title"`
		Description *richDocument     `json:"description"`
		Pages       []newTemplatePage `json:"pages" rules:"len=..50"`
	} `body:"json"`
}

type newTemplatePage struct {
	Ref         *string   `json:"ref" rules:"len=1..64"`
	Into        *string   `json:"into" rules:"len=..64"`
	Title       *string   `json:"title" rules:"required,len=1..256,pattern=title"`
	Emoji       *string   `json:"emoji" rules:"len=..50"`
	Icon        *string   `json:"icon" rules:"len=..50"`
	Description *string   `json:"description" rules:"len=..1000"`
	Hidden      *bool     `json:"hidden"`
	Document    *pageBody `json:"document"`
}

// Validate checks that each page comes after its parent.
func (r *createTemplateRequest) Validate() []schema.Detail {
	var c rules.Checker
	depths := map[string]int{}
	for i, page := range r.Body.Pages {
		field, depth := fmt.Sprintf("pages[%d]", i), 1
		if into := schema.Or(page.Into, ""); into != "" {
			if depth = depths[into] + 1; depth == 1 {
				c.Add(field+".into", "is the ref of no page before it")
			} else if depth > tree.MaxDepth {
				c.Add(field+".into", fmt.Sprintf("is more than %d levels deep", tree.MaxDepth))
			}
		}
		if page.Ref == nil {
			continue
		}
		if depths[*page.Ref] > 0 {
			c.Add(field+".ref", "is the ref of another page")
		}
		depths[*page.Ref] = depth
	}
	return c.Details
}

func (h *templates) create(ctx context.Context, c *access.Caller, r *createTemplateRequest) (schema.ChangeRequestTemplate, error) {
	template := store.NewRequestTemplate{SpaceID: c.Space.Space.ID, Title: *r.Body.Title}
	if r.Body.Description != nil {
		var err error
		if template.Description, err = schema.EncodeJSON(r.Body.Description.Document); err != nil {
			return schema.ChangeRequestTemplate{}, err
		}
	}
	links := linkPaths{store: h.store, space: c.Space.Space.ID, revision: c.Space.Space.Revision}
	placed := map[string]placing{}
	for i, page := range r.Body.Pages {
		at := links.below(placed[schema.Or(page.Into, "")], tree.Slugify(*page.Title))
		if ref := schema.Or(page.Ref, ""); ref != "" {
			placed[ref] = at
		}
		add := store.TemplatePage{
			Title: *page.Title, Emoji: schema.Or(page.Emoji, ""), Icon: schema.Or(page.Icon, ""), Description: schema.Or(page.Description, ""),
			Hidden: schema.Or(page.Hidden, false), Ref: schema.Or(page.Ref, ""), Into: schema.Or(page.Into, ""),
		}
		if page.Document != nil && !page.Document.IsZero() {
			resolve := func(d schema.Document) (schema.Document, error) { return links.resolved(ctx, "", at, d, nil) }
			text, err := page.Document.text(ctx, fmt.Sprintf("pages[%d].document", i), nil, resolve)
			if err != nil {
				return schema.ChangeRequestTemplate{}, err
			}
			add.Text = &text
		}
		template.Pages = append(template.Pages, add)
	}
	row, err := h.store.CreateRequestTemplate(ctx, template)
	if err != nil {
		return schema.ChangeRequestTemplate{}, err
	}
	return h.view.RequestTemplate(row)
}

type templateRequest struct {
	ID string `path:"templateId"`
}

func (h *templates) get(ctx context.Context, c *access.Caller, r *templateRequest) (schema.ChangeRequestTemplate, error) {
	row, err := h.store.RequestTemplate(ctx, c.Space.Space.ID, r.ID)
	if err != nil {
		return schema.ChangeRequestTemplate{}, err
	}
	return h.view.RequestTemplate(row)
}

func (h *templates) delete(ctx context.Context, c *access.Caller, r *templateRequest) (frame.NoContent, error) {
	return frame.NoContent{}, h.store.DeleteRequestTemplate(ctx, c.Space.Space.ID, r.ID)
}
