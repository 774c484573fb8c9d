package content

import (
	"context"
	"net/http"

	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/api/frame/rules"
	"github.com/octavo-docs/octavo/api/view"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/postgres"
)

// translations has the operations on the translations of spaces.
type translations struct {
	store *store.Store
	view  view.Presenter
}

func translationOperations(h *translations) []frame.Operation {
	const many, one = "/orgs/{organizationId}/translations", "/orgs/{organizationId}/translations/{translationId}"
	return []frame.Operation{
		{
			Method: http.MethodGet, Path: many, ID: "listTranslations", Tag: "translations",
			Doc:   "List the translations of an organization.",
			Scope: access.Having(access.RightAccess, access.OnOrganization), Status: http.StatusOK, Handler: frame.Handle(h.list),
		},
		{
			Method: http.MethodPost, Path: many, ID: "createTranslation", Tag: "translations",
			Doc:   "Create a translation of a space into another language.",
			Scope: access.Having(access.RightCreate, access.OnOrganization), Status: http.StatusCreated,
			BodyLimit: frame.ResourceBodyLimit, Accepts: frame.MediaJSON, Handler: frame.Handle(h.create),
		},
		{
			Method: http.MethodGet, Path: one, ID: "getTranslation", Tag: "translations", Doc: "Read a translation.",
			Scope: access.Having(access.RightAccess, access.OnOrganization), Status: http.StatusOK, Handler: frame.Handle(h.get),
		},
		{
			Method: http.MethodPut, Path: one, ID: "updateTranslation", Tag: "translations",
			Doc:   "Replace the instructions of a translation.",
			Scope: access.Having(access.RightCreate, access.OnOrganization), Status: http.StatusOK,
			BodyLimit: frame.ResourceBodyLimit, Accepts: frame.MediaJSON, Handler: frame.Handle(h.update),
		},
		{
			Method: http.MethodDelete, Path: one, ID: "deleteTranslation", Tag: "translations",
			Doc: "Delete a translation.", Scope: access.Having(access.RightCreate, access.OnOrganization), Status: http.StatusNoContent,
			Handler: frame.Handle(h.delete),
		},
		{
			Method: http.MethodPost, Path: one + "/run", ID: "runTranslation", Tag: "translations",
			Doc: "Ask for a run of a translation.", Scope: access.Having(access.RightCreate, access.OnOrganization), Status: http.StatusNoContent,
			Handler: frame.Handle(h.run),
		},
		{
			Method: http.MethodGet, Path: one + "/runs", ID: "listTranslationRuns", Tag: "translations",
			Doc:   "List the runs of a translation, the newest first.",
			Scope: access.Having(access.RightAccess, access.OnOrganization), Status: http.StatusOK, Handler: frame.Handle(h.runs),
		},
		{
			Method: http.MethodGet, Path: one + "/runs/{runId}", ID: "getTranslationRun", Tag: "translations",
			Doc:   "Read a run of a translation, with what people should look at.",
			Scope: access.Having(access.RightAccess, access.OnOrganization), Status: http.StatusOK, Handler: frame.Handle(h.oneRun),
		},
	}
}

func (h *translations) list(
	ctx context.Context, c *access.Caller, r *schema.PageRequest,
) (schema.List[schema.Translation], error) {
	organization := c.Organization.Organization.ID
	return frame.ListMadePage(ctx, "translations "+organization, *r,
		func(after string, size int) (postgres.Page[store.ShownTranslation], error) {
			return h.store.ListTranslations(ctx, organization, after, size)
		},
		h.view.Translation(c.Rights), func(row store.ShownTranslation) string { return row.ID })
}

type createTranslationRequest struct {
	Body struct {
		// In the contract, only the language is required. But a translation needs a source, so Source is also required.
		Source *struct {
			Space    *string `json:"space" rules:"required"`
			Language *string `json:"language" rules:"required,enum=language"`
		} `json:"source" rules:"required"`
		Language     *string       `json:"language" rules:"required,enum=language"`
		Instructions *richDocument `json:"instructions"`
	} `body:"json"`
}

func (r *createTranslationRequest) Validate() []schema.Detail {
	var c rules.Checker
	if *r.Body.Language == *r.Body.Source.Language {
		c.Add("language", "must differ from the language of the source")
	}
	return c.Details
}

func (h *translations) create(ctx context.Context, c *access.Caller, r *createTranslationRequest) (schema.Translation, error) {
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
	return h.view.Translation(c.Rights)(store.ShownTranslation{Translation: row})
}

// requireSpace refuses a space of another organization, and a space whose content the caller may not read.
func (h *translations) requireSpace(ctx context.Context, c *access.Caller, id string) error {
	reads, err := h.reads(ctx, c, id)
	if err == nil && !reads {
		return schema.Invalid("source.space", "names no space of this organization that you have access to")
	}
	return err
}

// reads reports whether an id belongs to a space of the organization, and the caller may read the content of this
// space.
func (h *translations) reads(ctx context.Context, c *access.Caller, id string) (bool, error) {
	if !schema.ValidID(id) {
		return false, nil
	}
	space, err := h.store.Space(ctx, c.Principal.UserID, id)
	if schema.IsCode(err, schema.CodeNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return space.Space.OrganizationID == c.Organization.Organization.ID && access.ContentRights(space.ContentAccess).Has(access.RightAccess), nil
}

type translationRequest struct {
	ID string `path:"translationId"`
}

func (h *translations) get(ctx context.Context, c *access.Caller, r *translationRequest) (schema.Translation, error) {
	row, err := h.store.Translation(ctx, c.Organization.Organization.ID, r.ID)
	if err != nil {
		return schema.Translation{}, err
	}
	return h.view.Translation(c.Rights)(row)
}

type updateTranslationRequest struct {
	ID   string `path:"translationId"`
	Body struct {
		Instructions *richDocument `json:"instructions" rules:"required"`
	} `body:"json"`
}

func (h *translations) update(ctx context.Context, c *access.Caller, r *updateTranslationRequest) (schema.Translation, error) {
	raw, err := schema.EncodeJSON(r.Body.Instructions.Document)
	if err != nil {
		return schema.Translation{}, err
	}
	row, err := h.store.UpdateTranslation(ctx, c.Organization.Organization.ID, r.ID, raw)
	if err != nil {
		return schema.Translation{}, err
	}
	return h.view.Translation(c.Rights)(row)
}

func (h *translations) delete(ctx context.Context, c *access.Caller, r *translationRequest) (frame.NoContent, error) {
	return frame.NoContent{}, h.store.DeleteTranslation(ctx, c.Organization.Organization.ID, r.ID)
}

func (h *translations) run(ctx context.Context, c *access.Caller, r *translationRequest) (frame.NoContent, error) {
	return frame.NoContent{}, h.store.RequestTranslationRun(ctx, c.Organization.Organization.ID, r.ID)
}

type translationRunsRequest struct {
	schema.PageRequest
	ID string `path:"translationId"`
}

func (h *translations) runs(ctx context.Context, c *access.Caller, r *translationRunsRequest) (schema.List[schema.TranslationRun], error) {
	organization := c.Organization.Organization.ID
	if _, err := h.store.Translation(ctx, organization, r.ID); err != nil {
		return schema.List[schema.TranslationRun]{}, err
	}
	return frame.ListMadePage(ctx, "translation runs "+r.ID, r.PageRequest,
		func(after string, size int) (postgres.Page[store.TranslationRun], error) {
			return h.store.ListTranslationRuns(ctx, r.ID, after, size)
		},
		h.view.TranslationRun(organization), func(row store.TranslationRun) string { return row.ID })
}

type translationRunRequest struct {
	ID  string `path:"translationId"`
	Run string `path:"runId"`
}

func (h *translations) oneRun(ctx context.Context, c *access.Caller, r *translationRunRequest) (schema.TranslationRun, error) {
	organization := c.Organization.Organization.ID
	of, err := h.store.Translation(ctx, organization, r.ID)
	if err != nil {
		return schema.TranslationRun{}, err
	}
	row, err := h.store.TranslationRunByID(ctx, r.ID, r.Run)
	if err != nil {
		return schema.TranslationRun{}, err
	}
	run, err := h.view.TranslationRun(organization)(row)
	if err != nil || len(run.Reports) == 0 {
		return run, err
	}
	// The texts in the reports are texts of the source space. Some members of the organization may not read this space.
	reads, err := h.reads(ctx, c, of.SourceSpaceID)
	if !reads {
		for i := range run.Reports {
			run.Reports[i].Text = ""
		}
	}
	return run, err
}
