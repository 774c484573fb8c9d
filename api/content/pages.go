package content

import (
	"context"
	"maps"
	"net/http"
	"slices"

	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/api/view"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content/gitlayout"
	"github.com/octavo-docs/octavo/schema/content/tree"
	"github.com/octavo-docs/octavo/store"
)

// pages has the operations on the content of spaces and of change requests.
type pages struct {
	store    *store.Store
	view     view.Presenter
	requests *changeRequests
	exports  *exports
}

func pageOperations(h *pages) []frame.Operation {
	const tag = "content"
	return []frame.Operation{
		{
			Method: http.MethodGet, Path: "/spaces/{spaceId}/content", ID: "getCurrentRevision", Tag: tag,
			Doc:   "Read the current revision of a space.",
			Scope: access.Having(access.RightAccess, access.OnSpace).OrReaders().OrInstallation(schema.ScopeSpaceContentRead), Status: http.StatusOK, Handler: frame.Handle(h.current),
		},
		{
			Method: http.MethodGet, Path: "/spaces/{spaceId}/content/pages", ID: "listPages", Tag: tag,
			Doc:   "List the pages of a space as their tree.",
			Scope: access.Having(access.RightAccess, access.OnSpace).OrReaders().OrInstallation(schema.ScopeSpaceContentRead), Status: http.StatusOK, Handler: frame.Handle(h.pages),
		},
		{
			Method: http.MethodGet, Path: "/spaces/{spaceId}/revisions/{revisionId}", ID: "getRevisionById", Tag: tag,
			Doc:   "Read a revision of a space or of one of its change requests.",
			Scope: access.Having(access.RightAccess, access.OnSpace).OrReaders().OrInstallation(schema.ScopeSpaceContentRead), Status: http.StatusOK, Handler: frame.Handle(h.revisionByID),
		},
		{
			Method: http.MethodGet, Path: "/spaces/{spaceId}/revisions/{revisionId}/pages", ID: "listPagesInRevisionById", Tag: tag,
			Doc:   "List the pages of a revision as their tree.",
			Scope: access.Having(access.RightAccess, access.OnSpace).OrReaders().OrInstallation(schema.ScopeSpaceContentRead), Status: http.StatusOK, Handler: frame.Handle(h.pagesOfRevision),
		},
		{
			Method: http.MethodGet, Path: changeRequestPath + "/content", ID: "getRevisionOfChangeRequestById", Tag: tag,
			Doc:   "Read the content of a change request.",
			Scope: access.Having(access.RightAccess, access.OnChangeRequest).OrReaders().OrInstallation(schema.ScopeSpaceContentRead), Status: http.StatusOK, Handler: frame.Handle(h.ofRequest),
		},
		{
			Method: http.MethodGet, Path: changeRequestPath + "/content/pages", ID: "listPagesInChangeRequest", Tag: tag,
			Doc:   "List the pages of a change request as their tree.",
			Scope: access.Having(access.RightAccess, access.OnChangeRequest).OrReaders().OrInstallation(schema.ScopeSpaceContentRead), Status: http.StatusOK, Handler: frame.Handle(h.pagesOfRequest),
		},
		{
			Method: http.MethodPost, Path: changeRequestPath + "/content", ID: "updateChangeRequestContent", Tag: tag,
			Doc: "Change the content of a change request: all of the changes or none. The text of a page that stands " +
				"for a file which Git cannot give as UTF-8 text cannot change: 400 says which file, and why. A " +
				"change replaces what others have written meanwhile. With `revision`, which is an addition to the " +
				"published contract, it is refused instead, with 409.",
			Scope: access.Having(access.RightEdit, access.OnChangeRequest).OrInstallation(schema.ScopeSpaceContentWrite), Status: http.StatusOK,
			BodyLimit: contentBodyLimit, Accepts: frame.MediaJSON, Handler: frame.Handle(h.change),
		},
	}
}

// revisionRequest has the parameters of the contract for reading revisions. They have no effect: Octavo does not store
// Git metadata and computed pages with a revision.
type revisionRequest struct {
	Metadata *bool `query:"metadata" rules:"default=true"`
	Computed *bool `query:"computed" rules:"default=true"`
}

func (h *pages) current(ctx context.Context, c *access.Caller, _ *revisionRequest) (schema.Revision, error) {
	return h.revision(ctx, c, c.Space.Space.Revision)
}

func (h *pages) pages(ctx context.Context, c *access.Caller, _ *revisionRequest) (schema.RevisionPages, error) {
	return h.pageTree(ctx, c, c.Space.Space.Revision)
}

type revisionByIDRequest struct {
	revisionRequest
	RevisionID string `path:"revisionId"`
}

func (h *pages) revisionByID(ctx context.Context, c *access.Caller, r *revisionByIDRequest) (schema.Revision, error) {
	return h.revision(ctx, c, r.RevisionID)
}

func (h *pages) pagesOfRevision(ctx context.Context, c *access.Caller, r *revisionByIDRequest) (schema.RevisionPages, error) {
	row, err := h.store.Revision(ctx, c.Space.Space.ID, r.RevisionID)
	if err != nil {
		return schema.RevisionPages{}, err
	}
	return h.pageTree(ctx, c, row.ID)
}

func (h *pages) ofRequest(ctx context.Context, c *access.Caller, _ *revisionRequest) (schema.Revision, error) {
	return h.revision(ctx, c, c.ChangeRequest.Revision)
}

func (h *pages) pagesOfRequest(ctx context.Context, c *access.Caller, _ *revisionRequest) (schema.RevisionPages, error) {
	return h.pageTree(ctx, c, c.ChangeRequest.Revision)
}

func (h *pages) revision(ctx context.Context, c *access.Caller, id string) (schema.Revision, error) {
	space := c.Space.Space
	row, err := h.store.Revision(ctx, space.ID, id)
	if err != nil {
		return schema.Revision{}, err
	}
	pages, err := h.store.ShownPages(ctx, space.ID, row.ID, allows(c))
	if err != nil {
		return schema.Revision{}, err
	}
	files, err := h.files(ctx, c, row.ID)
	if err != nil {
		return schema.Revision{}, err
	}
	placed, err := placed(ctx, h.store, c)
	if err != nil {
		return schema.Revision{}, err
	}
	revision := schema.Revision{
		Object: "revision", ID: row.ID, Type: row.Type, Parents: row.Parents, Pages: h.view.Pages(space.ID, pages),
		Files: make([]schema.RevisionFile, len(files)), ReusableContents: []schema.ReusableContent{},
		CreatedAt: row.CreatedAt.UTC(),
		URLs:      h.view.RevisionURLs(placed, row),
	}
	for i, file := range files {
		address, err := h.exports.fileURL(ctx, c, row.ID, file.ID)
		if err != nil {
			return schema.Revision{}, err
		}
		revision.Files[i] = schema.RevisionFile{
			ID: file.ID, Name: file.Name, ContentType: file.ContentType, DownloadURL: address, Size: file.Size,
		}
		if file.Width > 0 {
			revision.Files[i].Dimensions = &schema.Dimensions{Width: file.Width, Height: file.Height}
		}
	}
	if c.Reader != nil { // readers see no history, so they see no merges
		revision.Parents, revision.Type = []string{}, store.RevisionEdits
	}
	texts, err := h.settings(ctx, space.ID, row.ID)
	if err != nil {
		return schema.Revision{}, err
	}
	revision.Variables = gitlayout.Variables(texts[gitlayout.VariablesName])
	revision.Tags = gitlayout.Tags(texts[gitlayout.TagsName])
	revision.MergedFrom, err = h.mergedFrom(ctx, c, row)
	return revision, err
}

// settings reads the files of a space that have its variables and its tags. It returns the contents by the names of the
// files. Readers get these contents, but not the files themselves.
func (h *pages) settings(ctx context.Context, space, revision string) (map[string][]byte, error) {
	files, err := h.store.Files(ctx, space, revision)
	if err != nil {
		return nil, err
	}
	names, ids := map[string]string{}, []string{}
	for _, f := range files {
		if known := f.Name == gitlayout.VariablesName || f.Name == gitlayout.TagsName; known &&
			f.Size <= gitlayout.MaxVariables && names[f.Name] == "" {
			names[f.Name], ids = f.ID, append(ids, f.ID)
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	texts, err := h.store.Includes(ctx, space, revision, ids, gitlayout.MaxVariables)
	found := map[string][]byte{}
	for name, id := range names {
		found[name] = texts[id]
	}
	return found, err
}

// files returns the files of a revision that the caller may see. A reader also sees files to which the site links, and
// files to which other spaces of the site refer.
func (h *pages) files(ctx context.Context, c *access.Caller, revision string) ([]store.File, error) {
	space := c.Space.Space.ID
	files, err := h.store.Files(ctx, space, revision)
	if err != nil || c.Reader == nil || len(files) == 0 {
		return files, err
	}
	linked := map[string]bool{}
	if place := c.Reader.Place(space); place != nil {
		if linked, err = h.store.LinkedFiles(ctx, place.Site.ID, place.Part.ID, space, c.Reader.Allows); err != nil {
			return nil, err
		}
	}
	others := c.Reader.Spaces()
	delete(others, space)
	pages, err := h.store.ShownPages(ctx, space, revision, c.Reader.Allows)
	if err != nil {
		return nil, err
	}
	addCovers(linked, pages)
	spaces := slices.Sorted(maps.Keys(others))
	if err := h.store.AddFilesNamedElsewhere(ctx, linked, space, spaces, c.Reader.Allows); err != nil {
		return nil, err
	}
	return h.store.ShownFiles(ctx, space, revision, files, c.Reader.Allows, linked)
}

// addCovers adds the ids of the images above pages to `linked`.
func addCovers(linked map[string]bool, pages []tree.Page) {
	for i := range pages {
		for _, member := range []string{"ref", "refDark"} {
			ref, _ := pages[i].Cover[member].(map[string]any)
			if id, ok := ref["file"].(string); ok {
				linked[id] = true
			}
		}
		addCovers(linked, pages[i].Pages)
	}
}

// mergedFrom returns the change request whose merge created a revision, or nil. Readers do not get the change request,
// because it names its authors.
func (h *pages) mergedFrom(ctx context.Context, c *access.Caller, row store.Revision) (*schema.ChangeRequest, error) {
	if row.ChangeRequestID == nil || c.Reader != nil {
		return nil, nil // the member is optional
	}
	request, err := h.store.ChangeRequest(ctx, c.Space.Space.ID, *row.ChangeRequestID)
	if err != nil {
		return nil, err
	}
	from, err := h.requests.resource(ctx, store.ChangeRequestRow{ChangeRequest: request, Head: c.Space.Space.Revision})
	return &from, err
}

func (h *pages) pageTree(ctx context.Context, c *access.Caller, revision string) (schema.RevisionPages, error) {
	pages, err := h.store.ShownPages(ctx, c.Space.Space.ID, revision, allows(c))
	if err != nil {
		return schema.RevisionPages{}, err
	}
	return schema.RevisionPages{Pages: h.view.Pages(c.Space.Space.ID, pages)}, nil
}
