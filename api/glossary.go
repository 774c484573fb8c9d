package api

import (
	"context"
	"fmt"
	"net/http"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
)

// glossary are the operations on the terms that translations keep to.
type glossary struct {
	store *store.Store
	urls  links
}

func glossaryOperations(h *glossary) []Operation {
	const path = "/orgs/{organizationId}/translations-glossary"
	return []Operation{
		{
			Method: http.MethodGet, Path: path, ID: "listGlossaryEntries", Tag: "translations",
			Doc:   "List the glossary of an organization.",
			Scope: having(RightAccess, onOrganization), Status: http.StatusOK, Handler: handle(h.list),
		},
		{
			Method: http.MethodPut, Path: path, ID: "updateGlossaryEntries", Tag: "translations",
			Doc:   "Insert, update and delete entries of the glossary, all or nothing.",
			Scope: having(RightCreate, onOrganization), Status: http.StatusNoContent,
			BodyLimit: ResourceBodyLimit, Accepts: mediaJSON, Handler: handle(h.update),
		},
		{
			Method: http.MethodGet, Path: path + "/{glossaryEntryId}", ID: "getGlossaryEntry", Tag: "translations",
			Doc:   "Read an entry of the glossary.",
			Scope: having(RightAccess, onOrganization), Status: http.StatusOK, Handler: handle(h.get),
		},
	}
}

type listGlossaryRequest struct {
	schema.PageRequest
	OrderBy *string `query:"orderBy" rules:"enum=language"`
}

func (h *glossary) list(ctx context.Context, c *Caller, r *listGlossaryRequest) (schema.List[schema.GlossaryEntry], error) {
	organization := c.Organization.Organization.ID
	return listKeyed(ctx, fmt.Sprintf("glossary %s %q", organization, schema.Or(r.OrderBy, "")), r.PageRequest, 2,
		func(after []string, size int) (store.Page[store.GlossaryRow], error) {
			return h.store.ListGlossary(ctx, organization, r.OrderBy, after, size)
		},
		func(row store.GlossaryRow) schema.GlossaryEntry { return h.urls.glossaryResource(row.Entry) },
		func(row store.GlossaryRow, e schema.GlossaryEntry) []string { return []string{row.Term, e.ID} })
}

// glossaryOperation has the members of all three alternatives. The languages of terms are not only those that spaces can be
// translated into: a glossary may come from elsewhere.
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
	var c checker
	for i, o := range r.Body.Operations {
		field := fmt.Sprintf("operations[%d]", i)
		if *o.Type != schema.GlossaryInsert && o.ID == nil {
			c.add(field+".id", "is required")
		}
		if *o.Type != schema.GlossaryDelete && o.Translations == nil {
			c.add(field+".translations", "is required")
		}
	}
	return c.details
}

func (h *glossary) update(ctx context.Context, c *Caller, r *updateGlossaryRequest) (NoContent, error) {
	operations := make([]store.GlossaryOperation, len(r.Body.Operations))
	for i, o := range r.Body.Operations {
		operations[i] = store.GlossaryOperation{Type: *o.Type, ID: schema.Or(o.ID, ""), Translations: o.Translations}
	}
	_, err := h.store.UpdateGlossary(ctx, c.Organization.Organization.ID, operations)
	return NoContent{}, err
}

type getGlossaryEntryRequest struct {
	ID string `path:"glossaryEntryId"`
}

func (h *glossary) get(ctx context.Context, c *Caller, r *getGlossaryEntryRequest) (schema.GlossaryEntry, error) {
	row, err := h.store.GlossaryEntry(ctx, c.Organization.Organization.ID, r.ID)
	if err != nil {
		return schema.GlossaryEntry{}, err
	}
	return h.urls.glossaryResource(row), nil
}

func (l links) glossaryResource(row store.GlossaryEntry) schema.GlossaryEntry {
	return schema.GlossaryEntry{
		Object: "glossary-entry", ID: row.ID, Translations: decoded[map[string]string](row.Translations),
		CreatedAt: row.CreatedAt.UTC(), UpdatedAt: row.UpdatedAt.UTC(),
		URLs: schema.LocationURLs{Location: l.API("orgs", row.OrganizationID, "translations-glossary", row.ID)},
	}
}
