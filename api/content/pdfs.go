package content

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"
	"time"

	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/api/frame/rules"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content/pdf"
	"github.com/octavo-docs/octavo/schema/content/tree"
	"github.com/octavo-docs/octavo/store"
)

const (
	// pdfWait is the time for which a request waits for a PDF that is not ready. Clients of the published contract
	// fetch a PDF immediately after they have requested its address.
	pdfWait = 25 * time.Second
	// pdfPoll is the interval at which a waiting request looks for the PDF in the database. The job that makes the PDF
	// may run on any node.
	pdfPoll = 250 * time.Millisecond
	// pdfReading is the time limit for all other work of a request: everything except the wait.
	pdfReading = 10 * time.Second
	// pdfRetry is the time after which a client may send the request again.
	pdfRetry = 5 * time.Second
	// maxWaiting is the largest number of requests that may wait concurrently. Anybody with a signed URL can send such
	// requests. They have no token, so no rate limit of a token applies.
	maxWaiting = 64
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

// address returns a signed address for a PDF. It also enqueues the job that makes the PDF, so that the PDF may be ready
// when it is fetched.
func (h *exports) address(ctx context.Context, c *access.Caller, r *pdfAddressRequest) (schema.ExportURL, error) {
	wanted := export{
		space: c.Space.Space.ID, revision: c.ChangeRequest.Revision, page: schema.Or(r.Page, ""),
		only: schema.Or(r.Only, false), user: c.Principal.UserID,
	}
	if wanted.page != "" {
		if _, err := h.store.Page(ctx, wanted.space, wanted.revision, wanted.page); err != nil {
			return schema.ExportURL{}, err
		}
	}
	if _, _, _, err := h.ask(ctx, c.Space.Space, wanted); err != nil {
		return schema.ExportURL{}, err
	}
	address, err := h.sign(ctx, pdfPath, wanted, c.Now.Add(pdfLifetime))
	return schema.ExportURL{URL: address}, err
}

// ask returns the PDF of a space if it is ready. Otherwise it returns the id of the job that makes the PDF.
func (h *exports) ask(ctx context.Context, space store.Space, e export) (p store.PDF, key, job string, err error) {
	if _, err := h.store.Revision(ctx, e.space, e.revision); err != nil {
		return store.PDF{}, "", "", err
	}
	seen, err := h.store.SeenBy(ctx, space.OrganizationID, e.user)
	if err != nil {
		return store.PDF{}, "", "", err
	}
	key = pdfKey(e, space.Title, space.Emoji, schema.Or(space.Language, ""), seen)
	wanted := store.PDF{SpaceID: e.space, Revision: e.revision, Page: e.page, Only: e.only, User: e.user}
	p, job, err = h.store.AskPDF(ctx, space.OrganizationID, wanted, key)
	return p, key, job, err
}

// pdfKey returns a key that identifies all inputs of a PDF. The inputs include the data on the cover, which is not in
// revisions, and the names that the caller may see. Callers with equal inputs get the same PDF.
func pdfKey(e export, shown ...string) string {
	sum := fnv.New64a()
	for _, text := range shown {
		_, _ = fmt.Fprintf(sum, "%q", text) // Write of a hash never returns an error
	}
	selection := cmp.Or(e.page, "all")
	if e.only {
		selection += " only"
	}
	return strings.Join([]string{e.revision, selection, strconv.FormatUint(sum.Sum64(), 16), "v" + strconv.Itoa(pdf.Version)}, " ")
}

type pdfRequest struct {
	signedRequest
	Page *string `query:"page"`
	Only *bool   `query:"only"`
	User *string `query:"user"`
}

func (h *exports) pdf(ctx context.Context, c *access.Caller, r *pdfRequest) (frame.File, error) {
	e := export{
		space: *r.Space, revision: *r.Revision, page: schema.Or(r.Page, ""), only: schema.Or(r.Only, false),
		user: schema.Or(r.User, ""),
	}
	if err := h.check(ctx, c, pdfPath, &r.signedRequest, e); err != nil {
		return frame.File{}, err
	}
	space, err := h.store.SpaceByID(ctx, e.space)
	if err != nil {
		return frame.File{}, err
	}
	found, key, job, err := h.ask(ctx, space, e)
	if err != nil {
		return frame.File{}, err
	}
	if found.Content == "" {
		waiting, stop := c.UntilGone(ctx)
		defer stop()
		if found, err = h.wait(waiting, e.space, key, job); err != nil {
			return frame.File{}, err
		}
	}
	// The server reads the stream after this function has returned. So the stream must not end with ctx.
	stream := h.store.ReadPDF(context.WithoutCancel(ctx), found)
	return frame.File{
		Stream: stream, Size: found.Size, MediaType: mediaPDF, Name: tree.Slugify(space.Title) + ".pdf", Shown: true,
	}, nil
}

// errNotMade is the cause of a 503 response for a PDF that is not ready.
var errNotMade = errors.New("the PDF is not made yet")

// wait waits until the job has made the PDF, at most for a bounded time.
func (h *exports) wait(ctx context.Context, space, key, job string) (store.PDF, error) {
	select {
	case h.waiting <- struct{}{}:
		defer func() { <-h.waiting }()
	default:
		return store.PDF{}, schema.Unavailable(errors.New("too many requests wait for PDFs"), pdfRetry)
	}
	late := time.NewTimer(h.patience)
	defer late.Stop()
	poll := time.NewTicker(pdfPoll)
	defer poll.Stop()
	for {
		found, err := h.store.PDF(ctx, space, key)
		if err != nil || found.Content != "" {
			return found, err
		}
		at, err := h.store.Queue.Job(ctx, job)
		if err == nil && at.State == schema.JobFailed {
			return found, schema.Conflict("the PDF could not be made: " + at.Reason + " (job " + job + ", which retryJob lets run again)")
		}
		if err != nil && !schema.IsCode(err, schema.CodeNotFound) {
			return found, err
		}
		select {
		case <-poll.C:
		case <-late.C:
			return found, &schema.Error{
				Code: schema.CodeUnavailable, Message: "the PDF is not made yet: try again", RetryAfter: pdfRetry, Cause: errNotMade,
			}
		case <-ctx.Done():
			return found, ctx.Err()
		}
	}
}
