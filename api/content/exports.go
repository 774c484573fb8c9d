package content

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"net/url"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/api/view"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
)

// These are the lifetimes of signed URLs. A client must download a PDF during the lifetime of its URL. A page may stay
// open for hours, and the URLs of its files must stay valid for this time.
const (
	pdfLifetime  = 10 * time.Minute
	fileLifetime = 24 * time.Hour
)

// exports returns files at signed URLs. Such a URL needs no token: anybody who has the URL may fetch the file until the
// URL expires.
type exports struct {
	store *store.Store
	view  view.Presenter
	// key is the key that signs the URLs. It is read from the database on first use.
	key atomic.Pointer[[]byte]
	// waiting has a slot for each request that waits for a PDF. It bounds the number of such requests.
	waiting chan struct{}
	// patience is the longest time that a request waits for its PDF.
	patience time.Duration
}

func newExports(st *store.Store, v view.Presenter) *exports {
	return &exports{store: st, view: v, waiting: make(chan struct{}, maxWaiting), patience: pdfWait}
}

func exportOperations(h *exports) []frame.Operation {
	return []frame.Operation{
		{
			Method: http.MethodGet, Path: changeRequestPath + "/pdf", ID: "getChangeRequestPDF", Tag: "change-requests",
			Doc: "Get an address from which the content of a change request can be fetched as a PDF for ten minutes. " +
				"Hidden pages, and those below them, are in it only if `page` names one of them.",
			Scope: access.Having(access.RightAccess, access.OnChangeRequest), Status: http.StatusOK, Handler: frame.Handle(h.address),
		},
		{
			Method: http.MethodGet, Path: pdfPath, ID: "downloadPDF", Tag: "exports",
			Doc:   "Fetch a revision as a PDF from an address that getChangeRequestPDF gave. While it is not made yet, the answer is 503 with Retry-After.",
			Scope: access.Public(), Status: http.StatusOK, Produces: []string{mediaPDF}, Timeout: pdfWait + pdfReading, Handler: frame.Handle(h.pdf),
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

// fileURL returns the signed URL of a file in a revision.
func (h *exports) fileURL(ctx context.Context, c *access.Caller, revision, file string) (string, error) {
	// The expiry is a full hour. So the URL stays the same for a while, and browsers can cache the file.
	expires := c.Now.Truncate(time.Hour).Add(time.Hour + fileLifetime)
	return h.sign(ctx, filePath, export{space: c.Space.Space.ID, revision: revision, file: file}, expires)
}

// export describes the data to which a signed URL gives access.
type export struct {
	space, revision string
	// page and only say which part of a revision a PDF contains. With `only`, it is the single page `page`, and
	// otherwise this page with its descendants.
	page string
	only bool
	// user is the user who requested the PDF. The PDF contains only names of link targets that this user may see.
	user string
	file string
}

// query returns the signed parameters of a URL, in a fixed order.
func (e export) query(expires time.Time) url.Values {
	values := url.Values{"space": {e.space}, "revision": {e.revision}, "expires": {strconv.FormatInt(expires.Unix(), 10)}}
	if e.page != "" {
		values.Set("page", e.page)
	}
	if e.only {
		values.Set("only", "true")
	}
	if e.user != "" {
		values.Set("user", e.user)
	}
	if e.file != "" {
		values.Set("file", e.file)
	}
	return values
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

// signedRequest has the parameters that all signed URLs share.
type signedRequest struct {
	Space     *string `query:"space" rules:"required"`
	Revision  *string `query:"revision" rules:"required"`
	Expires   *int    `query:"expires" rules:"required"`
	Signature *string `query:"signature" rules:"required"`
}

// check refuses URLs that have a wrong signature or that have expired.
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
	// The server reads the stream after this function has returned. So the stream must not end with ctx.
	stream := h.store.ReadFile(context.WithoutCancel(ctx), e.space, file)
	return frame.File{Stream: stream, Size: file.Size, MediaType: file.ContentType, Name: file.Name}, nil
}
