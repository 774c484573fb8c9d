package apps

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/api/frame/rules"
	"github.com/octavo-docs/octavo/api/remote/openapi"
	"github.com/octavo-docs/octavo/api/view"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/apispecs"
	"github.com/octavo-docs/octavo/store/postgres"
)

// specs has the operations on the OpenAPI specifications of an organization.
type specs struct {
	store *store.Store
	view  view.Presenter
}

// specBodyLimit has room for the largest text of a specification. In JSON, quotes and line breaks are escaped, so the
// text becomes longer.
const specBodyLimit = openapi.MaxText + 1<<20

func specOperations(h *specs) []frame.Operation {
	const all, one = "/orgs/{organizationId}/openapi", "/orgs/{organizationId}/openapi/{specSlug}"
	read := access.Having(access.RightAccess, access.OnOrganization).OrInstallation(schema.ScopeOpenAPIRead)
	write := access.Having(access.RightCreate, access.OnOrganization).OrInstallation(schema.ScopeOpenAPIWrite)
	return []frame.Operation{
		{
			Method: http.MethodGet, Path: all, ID: "listOpenAPISpecs", Tag: "openapi",
			Doc: "List the OpenAPI specifications of an organization.", Scope: read, Status: http.StatusOK, Handler: frame.Handle(h.list),
		},
		{
			Method: http.MethodPost, Path: all, ID: "createOpenAPISpec", Tag: "openapi",
			Doc:   "Create an OpenAPI specification from a text, or from a URL that is to be fetched.",
			Scope: write, Status: http.StatusCreated, BodyLimit: specBodyLimit, Accepts: frame.MediaJSON, Handler: frame.Handle(h.create),
		},
		{
			Method: http.MethodGet, Path: one, ID: "getOpenAPISpecBySlug", Tag: "openapi",
			Doc: "Read an OpenAPI specification.", Scope: read, Status: http.StatusOK, Handler: frame.Handle(h.get),
		},
		{
			Method: http.MethodPut, Path: one, ID: "createOrUpdateOpenAPISpecBySlug", Tag: "openapi",
			Doc:   "Give an OpenAPI specification a new source (200), or create it (201).",
			Scope: write, Status: http.StatusOK, BodyLimit: specBodyLimit, Accepts: frame.MediaJSON, Handler: frame.Handle(h.set),
		},
		{
			Method: http.MethodPatch, Path: one, ID: "updateOpenAPISpecBySlug", Tag: "openapi",
			Doc:   "Let everybody read the newest version of an OpenAPI specification, at `urls.published`, or only the organization.",
			Scope: access.Having(access.RightCreate, access.OnOrganization), Status: http.StatusOK,
			BodyLimit: frame.ResourceBodyLimit, Accepts: frame.MediaJSON, Handler: frame.Handle(h.update),
		},
		{
			Method: http.MethodGet, Path: one + "/published", ID: "getPublishedOpenAPISpec", Tag: "openapi",
			Doc:   "Read the document of the newest version of an OpenAPI specification whose visibility is public.",
			Scope: access.Public(), Status: http.StatusOK, Conditional: true, CORS: true, Handler: frame.Handle(h.published),
		},
		{
			Method: http.MethodDelete, Path: one, ID: "deleteOpenAPISpecBySlug", Tag: "openapi",
			Doc: "Delete an OpenAPI specification with all its versions.", Scope: write, Status: http.StatusNoContent, Handler: frame.Handle(h.remove),
		},
		{
			Method: http.MethodGet, Path: one + "/versions", ID: "listOpenAPISpecVersions", Tag: "openapi",
			Doc: "List the versions of an OpenAPI specification, newest first.", Scope: read, Status: http.StatusOK, Handler: frame.Handle(h.versions),
		},
		{
			Method: http.MethodGet, Path: one + "/versions/latest", ID: "getLatestOpenAPISpecVersion", Tag: "openapi",
			Doc: "Read the newest version of an OpenAPI specification.", Scope: read, Status: http.StatusOK, Handler: frame.Handle(h.latest),
		},
		{
			Method: http.MethodGet, Path: one + "/versions/latest/content", ID: "getLatestOpenAPISpecVersionContent", Tag: "openapi",
			Doc:   "Read the document of an OpenAPI specification's newest version. Readers of a site read those that its pages show to them.",
			Scope: access.Having(access.RightAccess, access.OnSharedResource).OrReaders().OrInstallation(schema.ScopeOpenAPIRead), Status: http.StatusOK, Handler: frame.Handle(h.latestContent),
		},
		{
			Method: http.MethodGet, Path: one + "/versions/{versionId}", ID: "getOpenAPISpecVersionById", Tag: "openapi",
			Doc: "Read a version of an OpenAPI specification.", Scope: read, Status: http.StatusOK, Handler: frame.Handle(h.version),
		},
		{
			Method: http.MethodGet, Path: one + "/versions/{versionId}/content", ID: "getOpenAPISpecVersionContentById", Tag: "openapi",
			Doc:   "Read the document of one version of an OpenAPI specification.",
			Scope: read, Status: http.StatusOK, Handler: frame.Handle(h.content),
		},
	}
}

func (h *specs) list(
	ctx context.Context, c *access.Caller, r *schema.PageRequest,
) (schema.List[schema.OpenAPISpec], error) {
	organization := c.Organization.Organization.ID
	return frame.ListPage(ctx, "openapi "+organization, *r,
		func(after string, size int) (postgres.Page[apispecs.Spec], error) {
			return h.store.Specs.List(ctx, organization, after, size)
		},
		h.view.Spec(c.Rights), func(row apispecs.Spec) string { return row.ID })
}

// openAPISource is the source of a specification: a text, or a URL from which a job fetches the document.
type openAPISource struct {
	URL  *string `json:"url" rules:"len=..2048,pattern=reachableURL"`
	Text *string `json:"text" rules:"len=1.."`
}

// problems returns a problem if the source has neither or both of `text` and `url`.
func (s *openAPISource) problems() []schema.Detail {
	var c rules.Checker
	if (s.URL == nil) == (s.Text == nil) {
		c.Add("source", "must have either text or url")
	}
	return c.Details
}

// read returns the source in the form that the store needs. If the source is a text, `read` parses it and returns its
// errors.
func (s *openAPISource) read() (apispecs.Source, error) {
	if s.URL != nil {
		return apispecs.Source{URL: s.URL}, nil
	}
	document, err := openapi.Parse(*s.Text)
	if err != nil {
		problems, ok := errors.AsType[openapi.Problems](err)
		if !ok {
			return apispecs.Source{}, err
		}
		details := make([]schema.Detail, len(problems))
		for i, problem := range problems {
			details[i] = schema.Detail{Field: "source.text", Problem: problem.Error()}
		}
		return apispecs.Source{}, schema.InvalidAll(details)
	}
	return apispecs.Source{Text: *s.Text, Document: document}, nil
}

type createOpenAPISpecRequest struct {
	Body struct {
		Slug   *string        `json:"slug" rules:"required,len=1..100,pattern=slug"`
		Source *openAPISource `json:"source" rules:"required"`
	} `body:"json"`
}

func (r *createOpenAPISpecRequest) Validate() []schema.Detail { return r.Body.Source.problems() }

func (h *specs) create(ctx context.Context, c *access.Caller, r *createOpenAPISpecRequest) (schema.OpenAPISpec, error) {
	source, err := r.Body.Source.read()
	if err != nil {
		return schema.OpenAPISpec{}, err
	}
	row, err := h.store.Specs.Create(ctx, c.Organization.Organization.ID, *r.Body.Slug, source)
	return h.view.Spec(c.Rights)(row), err
}

type getOpenAPISpecRequest struct {
	Slug string `path:"specSlug"`
}

func (h *specs) get(ctx context.Context, c *access.Caller, r *getOpenAPISpecRequest) (schema.OpenAPISpec, error) {
	row, err := h.store.Specs.Spec(ctx, c.Organization.Organization.ID, r.Slug)
	return h.view.Spec(c.Rights)(row), err
}

type setOpenAPISpecRequest struct {
	Slug string `path:"specSlug" rules:"len=1..100,pattern=slug"`
	Body struct {
		Source *openAPISource `json:"source" rules:"required"`
	} `body:"json"`
}

func (r *setOpenAPISpecRequest) Validate() []schema.Detail { return r.Body.Source.problems() }

// openAPISpecSet is the answer to setting a specification. `added` is true if the specification is new.
type openAPISpecSet struct {
	schema.OpenAPISpec
	added bool
}

func (s openAPISpecSet) Status() int {
	if s.added {
		return http.StatusCreated
	}
	return http.StatusOK
}

func (h *specs) set(ctx context.Context, c *access.Caller, r *setOpenAPISpecRequest) (openAPISpecSet, error) {
	source, err := r.Body.Source.read()
	if err != nil {
		return openAPISpecSet{}, err
	}
	row, added, err := h.store.Specs.Set(ctx, c.Organization.Organization.ID, r.Slug, source)
	return openAPISpecSet{OpenAPISpec: h.view.Spec(c.Rights)(row), added: added}, err
}

type updateOpenAPISpecRequest struct {
	Slug string `path:"specSlug"`
	Body struct {
		Visibility *string `json:"visibility" rules:"required,enum=specVisibility"`
	} `body:"json"`
}

func (h *specs) update(ctx context.Context, c *access.Caller, r *updateOpenAPISpecRequest) (schema.OpenAPISpec, error) {
	row, err := h.store.Specs.SetVisibility(ctx, c.Organization.Organization.ID, r.Slug, *r.Body.Visibility)
	return h.view.Spec(c.Rights)(row), err
}

type publishedOpenAPISpecRequest struct {
	OrganizationID string `path:"organizationId"`
	Slug           string `path:"specSlug"`
}

func (h *specs) published(ctx context.Context, _ *access.Caller, r *publishedOpenAPISpecRequest) (frame.Encoded, error) {
	if !schema.ValidID(r.OrganizationID) || !schema.ValidID(r.Slug) {
		return frame.Encoded{}, schema.NotFound("OpenAPI specification")
	}
	version, err := h.store.Specs.PublishedVersion(ctx, r.OrganizationID, r.Slug)
	if err != nil {
		return frame.Encoded{}, err
	}
	return frame.Encoded{
		Shared: &frame.Shared{Name: "OpenAPI " + version, Load: func(ctx context.Context) (frame.Encoded, error) {
			document, err := h.store.Specs.Document(ctx, version)
			return frame.Encoded{Body: document}, err
		}},
	}, nil
}

func (h *specs) remove(ctx context.Context, c *access.Caller, r *getOpenAPISpecRequest) (frame.NoContent, error) {
	return frame.NoContent{}, h.store.Specs.Delete(ctx, c.Organization.Organization.ID, r.Slug)
}

type listOpenAPISpecVersionsRequest struct {
	schema.PageRequest
	Slug string `path:"specSlug"`
}

func (h *specs) versions(
	ctx context.Context, c *access.Caller, r *listOpenAPISpecVersionsRequest,
) (schema.List[schema.OpenAPISpecVersion], error) {
	organization := c.Organization.Organization.ID
	spec, err := h.store.Specs.Spec(ctx, organization, r.Slug)
	if err != nil {
		return schema.List[schema.OpenAPISpecVersion]{}, err
	}
	return frame.ListKeyed(ctx, "openapi versions "+spec.ID, r.PageRequest, 1,
		func(after []string, size int) (postgres.Page[apispecs.Version], error) {
			before := int64(0)
			if after != nil {
				if before, err = strconv.ParseInt(after[0], 10, 32); err != nil || before < 1 {
					return postgres.Page[apispecs.Version]{}, schema.Invalid(
						"page", "is not a page of this list",
					)
				}
			}
			return h.store.Specs.ListVersions(ctx, spec.ID, int32(before), size)
		},
		h.view.SpecVersion(organization, r.Slug),
		func(v apispecs.Version) []string {
			return []string{strconv.Itoa(int(v.Number))}
		})
}

type getOpenAPISpecVersionRequest struct {
	Slug    string `path:"specSlug"`
	Version string `path:"versionId"`
}

func (h *specs) latest(ctx context.Context, c *access.Caller, r *getOpenAPISpecRequest) (schema.OpenAPISpecVersion, error) {
	return h.read(ctx, c, r.Slug, nil)
}

func (h *specs) version(
	ctx context.Context, c *access.Caller, r *getOpenAPISpecVersionRequest,
) (schema.OpenAPISpecVersion, error) {
	return h.read(ctx, c, r.Slug, &r.Version)
}

// read returns the version of a specification with this id, or the newest version if `id` is nil.
func (h *specs) read(ctx context.Context, c *access.Caller, slug string, id *string) (schema.OpenAPISpecVersion, error) {
	organization := c.Organization.Organization.ID
	row, err := h.store.Specs.Version(ctx, organization, slug, id)
	return h.view.SpecVersion(organization, slug)(row), err
}

func (h *specs) latestContent(
	ctx context.Context, c *access.Caller, r *getOpenAPISpecRequest,
) (schema.OpenAPISpecContent, error) {
	if c.Reader != nil {
		if err := h.mustShow(ctx, c.Reader, r.Slug); err != nil {
			return schema.OpenAPISpecContent{}, err
		}
	}
	return h.readContent(ctx, c, r.Slug, nil)
}

func (h *specs) content(
	ctx context.Context, c *access.Caller, r *getOpenAPISpecVersionRequest,
) (schema.OpenAPISpecContent, error) {
	return h.readContent(ctx, c, r.Slug, &r.Version)
}

func (h *specs) readContent(ctx context.Context, c *access.Caller, slug string, id *string) (schema.OpenAPISpecContent, error) {
	row, err := h.store.Specs.Version(ctx, c.Organization.Organization.ID, slug, id)
	if err != nil {
		return schema.OpenAPISpecContent{}, err
	}
	document, err := h.store.Specs.Document(ctx, row.ID)
	if c.Reader != nil && strings.Contains(schema.Or(row.SourceUrl, ""), "?") {
		// The URL's query string may contain a key, which readers must not see.
		row.SourceUrl = nil
	}
	source := h.view.SpecVersion(c.Organization.Organization.ID, slug)(row).URL
	file := schema.OpenAPISpecFile{
		Dir: "./", Filename: "openapi.json", IsEntrypoint: true, References: []string{}, Specification: document,
	}
	files := schema.OpenAPISpecFiles{ByName: map[string]schema.OpenAPISpecFile{file.Filename: file}}
	if c.Reader != nil {
		files = schema.OpenAPISpecFiles{Listed: []schema.OpenAPISpecFile{file}}
	}
	return schema.OpenAPISpecContent{
		Filesystem: files, URL: source,
		URLs: schema.OpenAPISpecContentURLs{
			Source: source,
			Public: schema.Opt[string]{Set: true, Value: row.SourceUrl},
		},
	}, err
}
