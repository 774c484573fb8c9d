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
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/postgres"
)

// glossary has the operations on the glossary: the terms that translations must use.
type glossary struct {
	store *store.Store
	view  view.Presenter
}

func glossaryOperations(h *glossary) []frame.Operation {
	const path = "/orgs/{organizationId}/translations-glossary"
	return []frame.Operation{
		{
			Method: http.MethodGet, Path: path, ID: "listGlossaryEntries", Tag: "translations",
			Doc:   "List the glossary of an organization.",
			Scope: access.Having(access.RightAccess, access.OnOrganization), Status: http.StatusOK, Handler: frame.Handle(h.list),
		},
		{
			Method: http.MethodPut, Path: path, ID: "updateGlossaryEntries", Tag: "translations",
			Doc:   "Insert, update and delete entries of the glossary, all or nothing.",
			Scope: access.Having(access.RightCreate, access.OnOrganization), Status: http.StatusNoContent,
			BodyLimit: frame.ResourceBodyLimit, Accepts: frame.MediaJSON, Handler: frame.Handle(h.update),
		},
		{
			Method: http.MethodGet, Path: path + "/{glossaryEntryId}", ID: "getGlossaryEntry", Tag: "translations",
			Doc:   "Read an entry of the glossary.",
			Scope: access.Having(access.RightAccess, access.OnOrganization), Status: http.StatusOK, Handler: frame.Handle(h.get),
		},
	}
}

type listGlossaryRequest struct {
	schema.PageRequest
	OrderBy *string `query:"orderBy" rules:"enum=language"`
}

func (h *glossary) list(ctx context.Context, c *access.Caller, r *listGlossaryRequest) (schema.List[schema.GlossaryEntry], error) {
	organization := c.Organization.Organization.ID
	return frame.ListMade(ctx, fmt.Sprintf("glossary %s %q", organization, schema.Or(r.OrderBy, "")), r.PageRequest, 2,
		func(after []string, size int) (postgres.Page[store.GlossaryRow], error) {
			return h.store.ListGlossary(ctx, organization, r.OrderBy, after, size)
		},
		func(row store.GlossaryRow) (schema.GlossaryEntry, error) { return h.view.GlossaryEntry(row.Entry) },
		func(row store.GlossaryRow) []string { return []string{row.Term, row.Entry.ID} })
}

// glossaryOperation has the members of all three kinds of operations. A term may be in a language into which spaces
// cannot be translated, because a glossary may come from another system.
type glossaryOperation struct {
	Type         *string           `json:"type" rules:"required,enum=glossaryOperation"`
	ID           *string           `json:"id"`
	Translations map[string]string `json:"translations" rules:"len=..100" keys:"len=..35,pattern=languageTag" each:"len=1..255,pattern=oneLine"`
}

type updateGlossaryRequest struct {
	Body struct {
		Operations []glossaryOperation `json:"operations" rules:"required,len=..1000"`
	} `body:"json"`
}

func (r *updateGlossaryRequest) Validate() []schema.Detail {
	var c rules.Checker
	for i, o := range r.Body.Operations {
		field := fmt.Sprintf("operations[%d]", i)
		if *o.Type != schema.GlossaryInsert && o.ID == nil {
			c.Add(field+".id", "is required")
		}
		if *o.Type != schema.GlossaryDelete && o.Translations == nil {
			c.Add(field+".translations", "is required")
		}
	}
	return c.Details
}

func (h *glossary) update(ctx context.Context, c *access.Caller, r *updateGlossaryRequest) (frame.NoContent, error) {
	operations := make([]store.GlossaryOperation, len(r.Body.Operations))
	for i, o := range r.Body.Operations {
		operations[i] = store.GlossaryOperation{Type: *o.Type, ID: schema.Or(o.ID, ""), Translations: o.Translations}
	}
	_, err := h.store.UpdateGlossary(ctx, c.Organization.Organization.ID, operations)
	return frame.NoContent{}, err
}

type getGlossaryEntryRequest struct {
	ID string `path:"glossaryEntryId"`
}

func (h *glossary) get(ctx context.Context, c *access.Caller, r *getGlossaryEntryRequest) (schema.GlossaryEntry, error) {
	row, err := h.store.GlossaryEntry(ctx, c.Organization.Organization.ID, r.ID)
	if err != nil {
		return schema.GlossaryEntry{}, err
	}
	return h.view.GlossaryEntry(row)
}
