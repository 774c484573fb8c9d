package content

import (
	"cmp"
	"context"
	"net/http"
	"strings"

	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content/markdown"
	"github.com/octavo-docs/octavo/schema/content/pagelinks"
	"github.com/octavo-docs/octavo/schema/content/tree"
	"github.com/octavo-docs/octavo/store"
)

// onePageOperations returns the operations that read one page: of the current content, of a revision and of a change
// request.
func onePageOperations(h *pages) []frame.Operation {
	const tag = "content"
	inSpace := access.Having(access.RightAccess, access.OnSpace).OrReaders().OrInstallation(schema.ScopeSpaceContentRead)
	inRequest := access.Having(access.RightAccess, access.OnChangeRequest).OrReaders().OrInstallation(schema.ScopeSpaceContentRead)
	const current, revision = "/spaces/{spaceId}/content", "/spaces/{spaceId}/revisions/{revisionId}"
	return []frame.Operation{
		{
			Method: http.MethodGet, Path: current + "/page/{pageId}", ID: "getPageById", Tag: tag,
			Doc:   "Read a page of a space with its text.",
			Scope: inSpace, Status: http.StatusOK, Handler: frame.Handle(h.pageByID),
		},
		{
			Method: http.MethodGet, Path: current + "/page/{pageId}/meta-links", ID: "listSpacePageMetaLinks", Tag: tag,
			Doc:   "List the canonical and alternate addresses of a page of a space. No page has any in this version.",
			Scope: inSpace, Status: http.StatusOK, Handler: frame.Handle(h.metaLinks),
		},
		{
			Method: http.MethodGet, Path: current + "/path/{pagePath}", ID: "getPageByPath", Tag: tag, Tail: true,
			Doc:   "Read a page of a space by its path, by a former path, or by one from which a redirect of its Git repository leads: then its path is another one.",
			Scope: inSpace, Status: http.StatusOK, Handler: frame.Handle(h.pageByPath),
		},
		{
			Method: http.MethodGet, Path: revision + "/page/{pageId}", ID: "getPageInRevisionById", Tag: tag,
			Doc:   "Read a page of a revision with its text.",
			Scope: inSpace, Status: http.StatusOK, Handler: frame.Handle(h.pageOfRevision),
		},
		{
			Method: http.MethodGet, Path: revision + "/page/{pageId}/document", ID: "getPageDocumentInRevisionById", Tag: tag,
			Doc:   "Read the text of a page of a revision as a document.",
			Scope: inSpace, Status: http.StatusOK, Handler: frame.Handle(h.documentOfRevision),
		},
		{
			Method: http.MethodGet, Path: revision + "/page/{pageId}/meta-links", ID: "listRevisionPageMetaLinks", Tag: tag,
			Doc:   "List the canonical and alternate addresses of a page of a revision. No page has any in this version.",
			Scope: inSpace, Status: http.StatusOK, Handler: frame.Handle(h.metaLinksOfRevision),
		},
		{
			Method: http.MethodGet, Path: revision + "/path/{pagePath}", ID: "getPageInRevisionByPath", Tag: tag, Tail: true,
			Doc:   "Read a page of a revision by its path, or by a former path of it.",
			Scope: inSpace, Status: http.StatusOK, Handler: frame.Handle(h.pathOfRevision),
		},
		{
			Method: http.MethodGet, Path: changeRequestPath + "/content/page/{pageId}", ID: "getPageInChangeRequestById", Tag: tag,
			Doc:   "Read a page of a change request with its text.",
			Scope: inRequest, Status: http.StatusOK, Handler: frame.Handle(h.pageOfRequest),
		},
		{
			Method: http.MethodGet, Path: changeRequestPath + "/content/page/{pageId}/meta-links", ID: "listChangeRequestPageMetaLinks", Tag: tag,
			Doc:   "List the canonical and alternate addresses of a page of a change request. No page has any in this version.",
			Scope: inRequest, Status: http.StatusOK, Handler: frame.Handle(h.metaLinksOfRequest),
		},
		{
			Method: http.MethodGet, Path: changeRequestPath + "/content/path/{pagePath}", ID: "getPageInChangeRequestByPath", Tag: tag, Tail: true,
			Doc:   "Read a page of a change request by its path, or by a former path of it.",
			Scope: inRequest, Status: http.StatusOK, Handler: frame.Handle(h.pathOfRequest),
		},
		{
			Method: http.MethodGet, Path: "/spaces/{spaceId}/documents/{documentId}", ID: "getDocumentById", Tag: tag,
			Doc: "Read a document of a space by the id that a page names. Relative links in it stay as they are: they depend on the page.",
			// Readers may not use this operation, because a space's documents include the documents of its drafts.
			Scope: access.Having(access.RightAccess, access.OnSpace).OrInstallation(schema.ScopeSpaceContentRead), Status: http.StatusOK, Handler: frame.Handle(h.document),
		},
	}
}

// These are the values of the parameter `format.markdown.refs`. With `relative`, a link to another page is a path
// relative to the page's file. With `stable`, the link is /pages/ followed by the id of the page, and front ends
// replace such links. If the parameter is absent, links in Markdown are returned as they were written, and links in
// pages that were written as documents are relative. Editors can send each of these forms back. For editors, paths are
// paths of files in the Git repository. For readers, and if there is no repository, a page is treated as a file at the
// page's path. References by id are shown with the title of their target, except in Markdown that is returned as it was
// written.
const (
	refsRelative = "relative"
	refsStable   = "stable"
)

// documentRequest has the parameters for reading a document. Conditions are always evaluated for readers, and never for
// users. Reusable contents always replace their blocks for readers.
type documentRequest struct {
	Evaluated    *string `query:"evaluated" rules:"enum=evaluated,default=false"`
	Dereferenced *string `query:"dereferenced" rules:"enum=dereferenced,default=false"`
}

// pageRequest has the parameters for reading one page.
type pageRequest struct {
	revisionRequest
	documentRequest
	Format *string `query:"format" rules:"enum=format,default=document"`
	Refs   *string `query:"format.markdown.refs" rules:"enum=markdownRefs"`
}

type pageByIDRequest struct {
	pageRequest
	PageID string `path:"pageId"`
}

func (h *pages) pageByID(ctx context.Context, c *access.Caller, r *pageByIDRequest) (schema.RevisionPage, error) {
	return h.byID(ctx, c, c.Space.Space.Revision, r)
}

func (h *pages) pageOfRequest(ctx context.Context, c *access.Caller, r *pageByIDRequest) (schema.RevisionPage, error) {
	return h.byID(ctx, c, c.ChangeRequest.Revision, r)
}

type pageOfRevisionRequest struct {
	pageByIDRequest
	RevisionID string `path:"revisionId"`
}

func (h *pages) pageOfRevision(ctx context.Context, c *access.Caller, r *pageOfRevisionRequest) (schema.RevisionPage, error) {
	return h.byID(ctx, c, r.RevisionID, &r.pageByIDRequest)
}

// at returns the caller's space in the state of another revision.
func at(c *access.Caller, revision string) store.Space {
	space := c.Space.Space
	space.Revision = revision
	return space
}

func (h *pages) byID(ctx context.Context, c *access.Caller, revision string, r *pageByIDRequest) (schema.RevisionPage, error) {
	space := at(c, revision)
	node, text, err := h.store.PageText(ctx, space.ID, space.Revision, r.PageID)
	if err != nil {
		return schema.RevisionPage{}, err
	}
	page, err := h.store.Placed(ctx, space.ID, space.Revision, node)
	if err != nil {
		return schema.RevisionPage{}, err
	}
	return h.page(ctx, c, space, &r.pageRequest, page, text)
}

type pageByPathRequest struct {
	pageRequest
	PagePath string `path:"pagePath"`
}

func (h *pages) pageByPath(ctx context.Context, c *access.Caller, r *pageByPathRequest) (schema.RevisionPage, error) {
	return h.byPath(ctx, c, c.Space.Space.Revision, r)
}

func (h *pages) pathOfRequest(ctx context.Context, c *access.Caller, r *pageByPathRequest) (schema.RevisionPage, error) {
	return h.byPath(ctx, c, c.ChangeRequest.Revision, r)
}

type pathOfRevisionRequest struct {
	pageByPathRequest
	RevisionID string `path:"revisionId"`
}

func (h *pages) pathOfRevision(ctx context.Context, c *access.Caller, r *pathOfRevisionRequest) (schema.RevisionPage, error) {
	return h.byPath(ctx, c, r.RevisionID, &r.pageByPathRequest)
}

func (h *pages) byPath(ctx context.Context, c *access.Caller, revision string, r *pageByPathRequest) (schema.RevisionPage, error) {
	space := at(c, revision)
	page, err := h.store.PageByPath(ctx, space.ID, space.Revision, r.PagePath)
	if err != nil {
		return schema.RevisionPage{}, err
	}
	var text store.Text
	if page.Document != "" {
		documents, err := h.store.Documents(ctx, space.ID, []string{page.Document})
		if err != nil {
			return schema.RevisionPage{}, err
		}
		text = documents[page.Document]
	}
	return h.page(ctx, c, space, &r.pageRequest, page, text)
}

// page returns a page in the form of the API, with its text if it has a text.
func (h *pages) page(
	ctx context.Context, c *access.Caller, space store.Space, r *pageRequest, page tree.Placed, text store.Text,
) (schema.RevisionPage, error) {
	page, err := h.store.ShownPage(ctx, space.ID, space.Revision, page, allows(c))
	if err != nil {
		return schema.RevisionPage{}, err
	}
	resource := h.view.Page(space.ID, page)
	asMarkdown := schema.Or(r.Format, markdown.FormatDocument) != markdown.FormatDocument
	// A page without text also gets Markdown. If it were absent, front ends could not build the text of the site.
	if page.Document == "" && (!asMarkdown || page.Kind != tree.KindDocument) {
		return resource, nil
	}
	showKeys(&text.Document)
	adapt(&text.Document, c)
	if err := h.expand(ctx, c, space, &text.Document, r.Dereferenced); err != nil {
		return schema.RevisionPage{}, err
	}
	self := pagelinks.Page{ID: page.ID, Path: page.Path}
	if !asMarkdown {
		document, err := h.store.Linked(ctx, space.ID, space.Revision, self, text.Document)
		resource.Document = &document
		return resource, err
	}
	refs := schema.Or(r.Refs, "")
	if refs == "" && c.Reader != nil {
		refs = refsRelative // readers write nothing back, and cannot follow ids
	}
	if c.Reader != nil {
		text.Document, err = h.store.Named(ctx, sight(c), space.ID, space.Revision, text.Document)
		if err != nil {
			return schema.RevisionPage{}, err
		}
		if err := h.showFiles(ctx, c, space.Revision, &text.Document); err != nil {
			return schema.RevisionPage{}, err
		}
	}
	source, err := h.markdown(ctx, c, space, self, text, refs)
	if c.Reader != nil {
		source = titled(page.Title, source, text.Document)
	}
	if c.Reader != nil || !c.Rights.Has(access.RightEdit) {
		source = markdown.Safe(source)
	}
	resource.Markdown = &source
	return resource, err
}

// showFiles adds the addresses of files to a document. Its Markdown alone does not lead to the files.
func (h *pages) showFiles(ctx context.Context, c *access.Caller, revision string, d *schema.Document) error {
	var failed error
	*d = pagelinks.WithFiles(*d, func(id string) string {
		address, err := h.exports.fileURL(ctx, c, revision, id)
		failed = cmp.Or(failed, err)
		return address
	})
	return failed
}

// titled returns Markdown with the page's title at the beginning, so that readers get the complete text. If the
// Markdown already begins with a title, titled returns it unchanged. Users get the stored text, without the title.
func titled(title, text string, d schema.Document) string {
	if len(d.Nodes) > 0 && d.Nodes[0].Type == "heading-1" {
		return text
	}
	heading := markdown.Write(schema.NewDocument(schema.Block("heading-1", schema.Text(title)))) + "\n"
	if text == "" {
		return heading
	}
	return heading + "\n" + strings.TrimLeft(text, "\n")
}

// sight returns the caller's access. This access determines which link targets of a page the caller sees.
func sight(c *access.Caller) store.Sight {
	if c.Reader == nil {
		return store.Sight{UserID: c.Principal.UserID}
	}
	return store.Sight{Shows: c.Reader.SeesSpace, Allows: c.Reader.Allows}
}

// allows returns the function that evaluates conditions for the caller. It is nil for users, because users edit the
// content and must see all of it.
func allows(c *access.Caller) store.Allows {
	if c.Reader == nil {
		return nil
	}
	return c.Reader.Allows
}

// adapt removes the conditional blocks that a site's reader must not see from a document.
func adapt(d *schema.Document, c *access.Caller) {
	if allows := allows(c); allows != nil {
		d.Nodes = markdown.ForVisitor(d.Nodes, allows)
	}
}

// expand replaces blocks that refer to reusable contents by these contents. It does this for readers, and if the
// request asks for it.
func (h *pages) expand(
	ctx context.Context, c *access.Caller, space store.Space, d *schema.Document, asked *string,
) (err error) {
	if c.Reader == nil && schema.Or(asked, "false") == "false" {
		return nil
	}
	each := func(content *schema.Document) { adapt(content, c) }
	*d, err = h.store.Expanded(ctx, space.ID, space.Revision, *d, each)
	return err
}

// markdown returns the Markdown of a page. Links to other pages have the requested form. All other text keeps the
// author's bytes.
func (h *pages) markdown(
	ctx context.Context, c *access.Caller, space store.Space, page pagelinks.Page, text store.Text, refs string,
) (string, error) {
	links := linkPaths{store: h.store, space: space.ID, revision: space.Revision}
	if c.ChangeRequest != nil {
		links.request = c.ChangeRequest.ID
	}
	if refs == "" && text.Markdown == nil {
		refs = refsRelative
	}
	var err error
	d := text.Document
	switch {
	case refs == refsStable:
		if d, err = h.store.Linked(ctx, space.ID, space.Revision, page, d); err == nil {
			d, err = h.store.Named(ctx, sight(c), space.ID, space.Revision, d)
		}
		d = pagelinks.Stable(d)
	case refs == refsRelative:
		// If a reference to a page of the space has no title, its text is the name of the page's file, as in Git.
		if d, err = links.relative(ctx, page, d, c.Reader != nil); err == nil {
			d, err = h.store.Named(ctx, sight(c), space.ID, space.Revision, d)
		}
	default:
		d, err = links.asWritten(ctx, page, *text.Markdown, d)
	}
	switch {
	case err != nil:
		return "", err
	case text.Markdown == nil:
		return markdown.Write(d), nil
	}
	return markdown.Edit(*text.Markdown, d), nil
}

type documentOfRevisionRequest struct {
	documentRequest
	RevisionID string `path:"revisionId"`
	PageID     string `path:"pageId"`
}

func (h *pages) documentOfRevision(ctx context.Context, c *access.Caller, r *documentOfRevisionRequest) (schema.Document, error) {
	space := at(c, r.RevisionID)
	node, text, err := h.store.PageText(ctx, space.ID, space.Revision, r.PageID)
	if err != nil {
		return schema.Document{}, err
	}
	if node.Kind != tree.KindDocument {
		return schema.Document{}, schema.NotFound("document")
	}
	if err := h.store.CheckShown(ctx, space.ID, space.Revision, node.ID, allows(c)); err != nil {
		return schema.Document{}, err
	}
	showKeys(&text.Document)
	adapt(&text.Document, c)
	if err := h.expand(ctx, c, space, &text.Document, r.Dereferenced); err != nil {
		return schema.Document{}, err
	}
	page := pagelinks.Page{ID: node.ID, Path: node.Slug}
	if len(pagelinks.Targets(text.Document, page)) > 0 {
		if page.Path, err = h.store.PathOf(ctx, space.ID, space.Revision, node); err != nil {
			return schema.Document{}, err
		}
	}
	d, err := h.store.Linked(ctx, space.ID, space.Revision, page, text.Document)
	if err == nil && (c.Reader != nil || schema.Or(r.Evaluated, "false") != "false") {
		d = markdown.ForRenderer(d)
		showKeys(&d)
	}
	return d, err
}

type documentByIDRequest struct {
	DocumentID string  `path:"documentId"`
	Schema     *string `query:"schema" rules:"enum=documentSchema,default=current"`
}

func (h *pages) document(ctx context.Context, c *access.Caller, r *documentByIDRequest) (schema.Document, error) {
	text, err := h.store.Document(ctx, c.Space.Space.ID, r.DocumentID)
	if err != nil {
		return schema.Document{}, err
	}
	d := text.Document
	showKeys(&d)
	return d, nil
}

type pageMetaRequest struct {
	PageID string `path:"pageId"`
}

type pageMetaOfRevisionRequest struct {
	pageMetaRequest
	RevisionID string `path:"revisionId"`
}

func (h *pages) metaLinks(ctx context.Context, c *access.Caller, r *pageMetaRequest) (schema.PageMetaLinks, error) {
	return h.metaLinksAt(ctx, c, c.Space.Space, r)
}

func (h *pages) metaLinksOfRevision(ctx context.Context, c *access.Caller, r *pageMetaOfRevisionRequest) (schema.PageMetaLinks, error) {
	return h.metaLinksAt(ctx, c, at(c, r.RevisionID), &r.pageMetaRequest)
}

func (h *pages) metaLinksOfRequest(ctx context.Context, c *access.Caller, r *pageMetaRequest) (schema.PageMetaLinks, error) {
	return h.metaLinksAt(ctx, c, at(c, c.ChangeRequest.Revision), r)
}

// metaLinksAt returns the links of an existing page for search engines. In Octavo, a page has no alternate addresses:
// authors cannot set them, and spaces do not record the matching page of a translation.
func (h *pages) metaLinksAt(ctx context.Context, c *access.Caller, space store.Space, r *pageMetaRequest) (schema.PageMetaLinks, error) {
	_, found, err := h.store.PagesIn(ctx, store.Revision{SpaceID: space.ID, ID: space.Revision}).Page(r.PageID)
	if err == nil && !found {
		err = schema.NotFound("page")
	}
	if err == nil {
		err = h.store.CheckShown(ctx, space.ID, space.Revision, r.PageID, allows(c))
	}
	return schema.PageMetaLinks{}, err
}
