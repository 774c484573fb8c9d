package api

import (
	"context"
	"net/http"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
)

// translations are the operations on translations of spaces.
type translations struct {
	store *store.Store
	urls  links
}

func translationOperations(h *translations) []Operation {
	const many, one = "/orgs/{organizationId}/translations", "/orgs/{organizationId}/translations/{translationId}"
	return []Operation{
		{
			Method: http.MethodGet, Path: many, ID: "listTranslations", Tag: "translations",
			Doc:   "List the translations of an organization.",
			Scope: having(RightAccess, onOrganization), Status: http.StatusOK, Handler: handle(h.list),
		},
		{
			Method: http.MethodPost, Path: many, ID: "createTranslation", Tag: "translations",
			Doc:   "Create a translation of a space into another language.",
			Scope: having(RightCreate, onOrganization), Status: http.StatusCreated,
			BodyLimit: ResourceBodyLimit, Accepts: mediaJSON, Handler: handle(h.create),
		},
		{
			Method: http.MethodGet, Path: one, ID: "getTranslation", Tag: "translations", Doc: "Read a translation.",
			Scope: having(RightAccess, onOrganization), Status: http.StatusOK, Handler: handle(h.get),
		},
		{
			Method: http.MethodPut, Path: one, ID: "updateTranslation", Tag: "translations",
			Doc:   "Replace the instructions of a translation.",
			Scope: having(RightCreate, onOrganization), Status: http.StatusOK,
			BodyLimit: ResourceBodyLimit, Accepts: mediaJSON, Handler: handle(h.update),
		},
		{
			Method: http.MethodDelete, Path: one, ID: "deleteTranslation", Tag: "translations",
			Doc: "Delete a translation.", Scope: having(RightCreate, onOrganization), Status: http.StatusNoContent,
			Handler: handle(h.delete),
		},
		{
			Method: http.MethodPost, Path: one + "/run", ID: "runTranslation", Tag: "translations",
			Doc: "Ask for a run of a translation.", Scope: having(RightCreate, onOrganization), Status: http.StatusNoContent,
			Handler: handle(h.run),
		},
	}
}

type listTranslationsRequest struct {
	schema.PageRequest
}

func (h *translations) list(
	ctx context.Context, c *Caller, r *listTranslationsRequest,
) (schema.List[schema.Translation], error) {
	organization := c.Organization.Organization.ID
	return listPage(ctx, "translations "+organization, r.PageRequest,
		func(after string, size int) (store.Page[store.Translation], error) {
			return h.store.ListTranslations(ctx, organization, after, size)
		},
		h.urls.translationResource(c.Rights), func(t schema.Translation) string { return t.ID })
}

type createTranslationRequest struct {
	Body struct {
		// Without a source there is nothing to translate, so it is required although the language alone is documented as such.
		Source *struct {
			Space    *string `json:"space" rules:"required"`
			Language *string `json:"language" rules:"required,enum=language"`
		} `json:"source" rules:"required"`
		Language     *string       `json:"language" rules:"required,enum=language"`
		Instructions *richDocument `json:"instructions"`
	} `body:"json"`
}

func (r *createTranslationRequest) Validate() []schema.Detail {
	var c checker
	if *r.Body.Language == *r.Body.Source.Language {
		c.add("language", "must be another than that of the source")
	}
	return c.details
}

func (h *translations) create(ctx context.Context, c *Caller, r *createTranslationRequest) (schema.Translation, error) {
	organization := c.Organization.Organization.ID
	if err := h.requireSpace(ctx, c, *r.Body.Source.Space); err != nil {
		return schema.Translation{}, err
	}
	instructions := schema.NewDocument()
	if r.Body.Instructions != nil {
		instructions = r.Body.Instructions.Document
	}
	raw, err := schema.EncodeJSON(instructions)
	if err != nil {
		return schema.Translation{}, err
	}
	row, err := h.store.CreateTranslation(ctx, store.NewTranslation{
		OrganizationID: organization, SourceSpaceID: *r.Body.Source.Space, SourceLanguage: *r.Body.Source.Language,
		Language: *r.Body.Language, Instructions: raw,
	})
	if err != nil {
		return schema.Translation{}, err
	}
	return h.urls.translationResource(c.Rights)(row), nil
}

// requireSpace refuses a space of another organization, and one whose content the caller may not read.
func (h *translations) requireSpace(ctx context.Context, c *Caller, id string) error {
	refused := schema.Invalid("source.space", "names no space of this organization that you have access to")
	if !schema.ValidID(id) {
		return refused
	}
	space, err := h.store.Space(ctx, c.Principal.UserID, id)
	if schema.IsCode(err, schema.CodeNotFound) {
		return refused
	}
	if err != nil {
		return err
	}
	if space.Space.OrganizationID != c.Organization.Organization.ID || !contentRights(space.ContentAccess).Has(RightAccess) {
		return refused
	}
	return nil
}

type translationRequest struct {
	ID string `path:"translationId"`
}

func (h *translations) get(ctx context.Context, c *Caller, r *translationRequest) (schema.Translation, error) {
	row, err := h.store.Translation(ctx, c.Organization.Organization.ID, r.ID)
	if err != nil {
		return schema.Translation{}, err
	}
	return h.urls.translationResource(c.Rights)(row), nil
}

type updateTranslationRequest struct {
	ID   string `path:"translationId"`
	Body struct {
		Instructions *richDocument `json:"instructions" rules:"required"`
	} `body:"json"`
}

func (h *translations) update(ctx context.Context, c *Caller, r *updateTranslationRequest) (schema.Translation, error) {
	raw, err := schema.EncodeJSON(r.Body.Instructions.Document)
	if err != nil {
		return schema.Translation{}, err
	}
	row, err := h.store.UpdateTranslation(ctx, c.Organization.Organization.ID, r.ID, raw)
	if err != nil {
		return schema.Translation{}, err
	}
	return h.urls.translationResource(c.Rights)(row), nil
}

func (h *translations) delete(ctx context.Context, c *Caller, r *translationRequest) (NoContent, error) {
	return NoContent{}, h.store.DeleteTranslation(ctx, c.Organization.Organization.ID, r.ID)
}

// run records the wish. The status stays pending, which is the truth until somebody translates; lastRun says why.
func (h *translations) run(ctx context.Context, c *Caller, r *translationRequest) (NoContent, error) {
	return NoContent{}, h.store.RequestTranslationRun(ctx, c.Organization.Organization.ID, r.ID)
}

// noTranslator is why runs stay queued.
const noTranslator = "no translator is configured on this installation; the run waits until there is one"

func (l links) translationResource(rights Rights) func(store.Translation) schema.Translation {
	return func(row store.Translation) schema.Translation {
		t := schema.Translation{
			Object: "translation", ID: row.ID, Status: schema.TranslationPending,
			Source:   schema.TranslationSource{Space: row.SourceSpaceID, Language: row.SourceLanguage},
			Language: row.Language, Instructions: decoded[schema.Document](row.Instructions),
			CreatedAt: row.CreatedAt.UTC(), UpdatedAt: row.UpdatedAt.UTC(), Stats: schema.TranslationStats{Runs: row.Runs},
			Permissions: schema.TranslationPermissions{View: rights.Has(RightAccess), Edit: rights.Has(RightCreate)},
			URLs:        schema.LocationURLs{Location: l.API("orgs", row.OrganizationID, "translations", row.ID)},
		}
		if row.RunRequestedAt != nil {
			t.LastRun = &schema.TranslationRun{
				State: schema.RunQueued, Reason: noTranslator, RequestedAt: row.RunRequestedAt.UTC(),
			}
		}
		return t
	}
}
