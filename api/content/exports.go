package content

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/api/frame/rules"
	"github.com/octavo-docs/octavo/api/view"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/content/pdf"
	"github.com/octavo-docs/octavo/store/content/tree"
)

// Lifetimes of signed URLs: a PDF's covers the time to download it, a file's the time that a page showing it may stay open.
const (
	pdfLifetime  = 10 * time.Minute
	fileLifetime = 24 * time.Hour
)

// exports serves files at signed URLs. A URL needs no token: anybody who has it may fetch the file until it expires.
type exports struct {
	store *store.Store
	view  view.Presenter
	// key signs the URLs; it is loaded on first use.
	key atomic.Pointer[[]byte]
	// renderers has a slot for each PDF being rendered.
	renderers chan struct{}
}

// A PDF takes a CPU for seconds and memory for its pages. Anybody with a signed URL can request one, without a token whose rate
// limits would apply, so only a few render at once and a request waits only seconds for a slot.
const (
	maxRenderers = 2
	rendererWait = 3 * time.Second
)

func newExports(st *store.Store, v view.Presenter) *exports {
	return &exports{store: st, view: v, renderers: make(chan struct{}, maxRenderers)}
}

func exportOperations(h *exports) []frame.Operation {
	return []frame.Operation{
		{
			Method: http.MethodGet, Path: changeRequestPath + "/pdf", ID: "getChangeRequestPDF", Tag: "change-requests",
			Doc:   "Get an address from which the content of a change request can be fetched as a PDF for ten minutes.",
			Scope: access.Having(access.RightAccess, access.OnChangeRequest), Status: http.StatusOK, Handler: frame.Handle(h.address),
		},
		{
			Method: http.MethodGet, Path: pdfPath, ID: "downloadPDF", Tag: "exports",
			Doc:   "Fetch a revision as a PDF from an address that getChangeRequestPDF gave.",
			Scope: access.Public(), Status: http.StatusOK, Produces: []string{mediaPDF}, Handler: frame.Handle(h.pdf),
		},
		{
			Method: http.MethodGet, Path: filePath, ID: "downloadFile", Tag: "exports",
			Doc:   "Fetch a file of a revision from the address that the revision gave.",
			Scope: access.Public(), Status: http.StatusOK, Produces: []string{"*/*"}, Handler: frame.Handle(h.file),
		},
	}
}

const (
	pdfPath  = "/exports/pdf"
	filePath = "/exports/file"
	mediaPDF = "application/pdf"
)

type pdfAddressRequest struct {
	Only *bool   `query:"only" rules:"default=false"`
	Page *string `query:"page"`
}

func (r *pdfAddressRequest) Validate() []schema.Detail {
	var c rules.Checker
	if schema.Or(r.Only, false) && r.Page == nil {
		c.Add("page", "is required with only")
	}
	return c.Details
}

func (h *exports) address(ctx context.Context, c *access.Caller, r *pdfAddressRequest) (schema.ExportURL, error) {
	wanted := export{space: c.Space.Space.ID, revision: c.ChangeRequest.Revision, page: schema.Or(r.Page, ""), only: schema.Or(r.Only, false)}
	if wanted.page != "" {
		if _, err := h.store.Page(ctx, wanted.space, wanted.revision, wanted.page); err != nil {
			return schema.ExportURL{}, err
		}
	}
	address, err := h.sign(ctx, pdfPath, wanted, c.Now.Add(pdfLifetime))
	return schema.ExportURL{URL: address}, err
}

// fileURL signs the URL of a file in a revision.
func (h *exports) fileURL(ctx context.Context, c *access.Caller, revision, file string) (string, error) {
	// Round the expiry to a full hour: the URL stays the same for a while, so browsers can cache the file.
	expires := c.Now.Truncate(time.Hour).Add(time.Hour + fileLifetime)
	return h.sign(ctx, filePath, export{space: c.Space.Space.ID, revision: revision, file: file}, expires)
}

// export is what a signed URL gives access to.
type export struct {
	space, revision string
	// page and only select the part of a revision for a PDF: a page with its descendants, or that page alone.
	page string
	only bool
	file string
}

// query encodes the signed parameters in a fixed order.
func (e export) query(expires time.Time) url.Values {
	values := url.Values{"space": {e.space}, "revision": {e.revision}, "expires": {strconv.FormatInt(expires.Unix(), 10)}}
	if e.page != "" {
		values.Set("page", e.page)
	}
	if e.only {
		values.Set("only", "true")
	}
	if e.file != "" {
		values.Set("file", e.file)
	}
	return values
}

// pages reads the selected pages.
func (h *exports) pages(ctx context.Context, e export) ([]tree.Page, error) {
	if e.page == "" {
		return h.store.Pages(ctx, e.space, e.revision)
	}
	found, err := h.store.Page(ctx, e.space, e.revision, e.page)
	if err != nil {
		return nil, err
	}
	page := *found.Page
	if e.only {
		page.Pages = nil
	}
	return []tree.Page{page}, nil
}

func (h *exports) sign(ctx context.Context, path string, e export, expires time.Time) (string, error) {
	values := e.query(expires)
	signature, err := h.signature(ctx, path, values)
	if err != nil {
		return "", err
	}
	values.Set("signature", base64.RawURLEncoding.EncodeToString(signature))
	return h.view.API() + path + "?" + values.Encode(), nil
}

func (h *exports) signature(ctx context.Context, path string, values url.Values) ([]byte, error) {
	key := h.key.Load()
	if key == nil {
		fresh, err := h.store.ExportKey(ctx)
		if err != nil {
			return nil, err
		}
		key = &fresh
		h.key.Store(key)
	}
	mac := hmac.New(sha256.New, *key)
	mac.Write([]byte(path + "?" + values.Encode()))
	return mac.Sum(nil), nil
}

// signedRequest has the parameters common to all signed URLs.
type signedRequest struct {
	Space     *string `query:"space" rules:"required"`
	Revision  *string `query:"revision" rules:"required"`
	Expires   *int    `query:"expires" rules:"required"`
	Signature *string `query:"signature" rules:"required"`
}

// check rejects URLs with a bad signature or past their expiry.
func (h *exports) check(ctx context.Context, c *access.Caller, path string, r *signedRequest, e export) error {
	expires := time.Unix(int64(*r.Expires), 0)
	want, err := h.signature(ctx, path, e.query(expires))
	if err != nil {
		return err
	}
	got, err := base64.RawURLEncoding.DecodeString(*r.Signature)
	if err != nil || !hmac.Equal(got, want) {
		return schema.Forbidden("the signed address is not valid")
	}
	if !c.Now.Before(expires) {
		return schema.Forbidden("the signed address has expired: request a new one")
	}
	return nil
}

type fileRequest struct {
	signedRequest
	File *string `query:"file" rules:"required"`
}

func (h *exports) file(ctx context.Context, c *access.Caller, r *fileRequest) (frame.File, error) {
	e := export{space: *r.Space, revision: *r.Revision, file: *r.File}
	if err := h.check(ctx, c, filePath, &r.signedRequest, e); err != nil {
		return frame.File{}, err
	}
	file, err := h.store.File(ctx, e.space, e.revision, e.file)
	if err != nil {
		return frame.File{}, err
	}
	body, err := h.store.FileContent(ctx, e.space, file.Hash)
	return frame.File{Body: body, MediaType: file.ContentType, Name: file.Name}, err
}

type pdfRequest struct {
	signedRequest
	Page *string `query:"page"`
	Only *bool   `query:"only"`
}

func (h *exports) pdf(ctx context.Context, c *access.Caller, r *pdfRequest) (frame.File, error) {
	e := export{space: *r.Space, revision: *r.Revision, page: schema.Or(r.Page, ""), only: schema.Or(r.Only, false)}
	if err := h.check(ctx, c, pdfPath, &r.signedRequest, e); err != nil {
		return frame.File{}, err
	}
	space, err := h.store.SpaceByID(ctx, e.space)
	if err != nil {
		return frame.File{}, err
	}
	pages, err := h.pages(ctx, e)
	if err != nil {
		return frame.File{}, err
	}
	ctx, stop := c.UntilGone(ctx)
	defer stop()
	if err := h.takeRenderer(ctx); err != nil {
		return frame.File{}, err
	}
	defer func() { <-h.renderers }()
	var written bytes.Buffer
	if err := pdf.Write(ctx, &written, space.Title, h.pdfPages(ctx, space.ID, pages)); err != nil {
		return frame.File{}, err
	}
	return frame.File{Body: written.Bytes(), MediaType: mediaPDF, Name: tree.Slugify(space.Title) + ".pdf", Shown: true}, nil
}

// takeRenderer waits for a free slot. The caller must release it.
func (h *exports) takeRenderer(ctx context.Context) error {
	wait := time.NewTimer(rendererWait)
	defer wait.Stop()
	select {
	case h.renderers <- struct{}{}:
		return nil
	case <-wait.C:
		return schema.Unavailable(errors.New("all PDF renderers are busy"), rendererWait)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// pdfPages yields pages in reading order and loads each text only when reached. Hidden pages are included: they are hidden from a
// site's readers, not from users who may read the change request. Links have no text and are skipped.
func (h *exports) pdfPages(ctx context.Context, space string, pages []tree.Page) iter.Seq2[pdf.Page, error] {
	return func(yield func(pdf.Page, error) bool) {
		h.eachPage(ctx, space, pages, 0, yield)
	}
}

func (h *exports) eachPage(
	ctx context.Context, space string, pages []tree.Page, level int, yield func(pdf.Page, error) bool,
) bool {
	for _, page := range pages {
		if page.Kind == tree.KindLink {
			continue
		}
		made := pdf.Page{Title: page.Title, Level: level}
		var err error
		if page.Document != "" {
			var documents map[string]store.Text
			documents, err = h.store.Documents(ctx, space, []string{page.Document})
			made.Document = documents[page.Document].Document
		}
		if !yield(made, err) || err != nil || !h.eachPage(ctx, space, page.Pages, level+1, yield) {
			return false
		}
	}
	return true
}
