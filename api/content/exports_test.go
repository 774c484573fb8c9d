package content

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/api/jobs/jobstest"
	"github.com/octavo-docs/octavo/api/view"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/storetest"
)

// TestPDFsAreWaitedFor requests a PDF before its job runs, while the job runs, and after the job has failed.
func TestPDFsAreWaitedFor(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	tenant := storetest.NewTenant(t, st, "ours")
	h := newExports(st, view.Presenter{})
	h.patience = 10 * time.Millisecond
	e := export{space: tenant.Space.ID, revision: tenant.Space.Revision}
	_, key, job, err := h.ask(t.Context(), tenant.Space, e)
	if err != nil || job == "" {
		t.Fatal(job, err)
	}
	if _, _, again, err := h.ask(t.Context(), tenant.Space, e); err != nil || again != job {
		t.Errorf("the same PDF has the jobs %s and %s: %v", job, again, err)
	}
	_, err = h.wait(t.Context(), e.space, key, job)
	if e := schema.AsError(err); e == nil || e.Code != schema.CodeUnavailable || e.RetryAfterSeconds() == 0 {
		t.Errorf("before it is made: %v", err)
	}
	for range maxWaiting {
		h.waiting <- struct{}{}
	}
	_, err = h.wait(t.Context(), e.space, key, job)
	if e := schema.AsError(err); e == nil || e.Code != schema.CodeUnavailable || e.RetryAfterSeconds() == 0 {
		t.Errorf("without a slot: %v", err)
	}
	for range maxWaiting {
		<-h.waiting
	}
	// the PDF is made while a request waits for it
	h.patience = time.Minute
	made := make(chan error, 1)
	go func() {
		found, err := h.wait(t.Context(), e.space, key, job)
		if err == nil {
			var body []byte
			if body, err = io.ReadAll(st.ReadPDF(t.Context(), found)); int64(len(body)) != found.Size || !bytes.HasPrefix(body, []byte("%PDF-")) {
				t.Errorf("%q of %d: %v", body, found.Size, err)
			}
		}
		made <- err
	}()
	jobstest.Drain(t, st)
	if err := <-made; err != nil {
		t.Error(err)
	}
	if found, _, job, err := h.ask(t.Context(), tenant.Space, e); err != nil || job != "" || found.Content == "" {
		t.Errorf("it is not kept: %v %s %v", found, job, err)
	}
}

// TestFailedPDFsSayWhy checks that the answer contains the reason why the job has failed, and that a user can retry the
// job. After a final failure, the job is not retried automatically.
func TestFailedPDFsSayWhy(t *testing.T) {
	t.Parallel()
	for renderer, attempts := range map[jobstest.Broken]int{{}: 3, {Final: true}: 1} {
		t.Run(fmt.Sprint(attempts), func(t *testing.T) { failedPDF(t, renderer, attempts) })
	}
}

func failedPDF(t *testing.T, renderer jobstest.Broken, attempts int) {
	t.Helper()
	t.Parallel()
	st := storetest.New(t)
	tenant := storetest.NewTenant(t, st, "ours")
	h := newExports(st, view.Presenter{})
	e := export{space: tenant.Space.ID, revision: tenant.Space.Revision}
	_, key, job, err := h.ask(t.Context(), tenant.Space, e)
	if err != nil {
		t.Fatal(err)
	}
	jobstest.Fail(t, st, renderer)
	_, err = h.wait(t.Context(), e.space, key, job)
	if e := schema.AsError(err); e == nil || e.Code != schema.CodeConflict || !strings.Contains(e.Message, "no ink") || !strings.Contains(e.Message, job) {
		t.Fatalf("%v", err)
	}
	if got, err := st.Queue.Job(t.Context(), job); err != nil || got.State != schema.JobFailed ||
		got.Reason != "there is no ink" || got.Attempt != attempts {
		t.Errorf("%+v %v", got, err)
	}
	if _, err := st.Queue.Retry(t.Context(), tenant.Organization.ID, job); err != nil {
		t.Fatal(err)
	}
	jobstest.Drain(t, st)
	if found, err := h.wait(t.Context(), e.space, key, job); err != nil || found.Content == "" {
		t.Errorf("%+v %v", found, err)
	}
}

// TestPDFsOfASpaceAreBounded sends more requests for PDFs than may wait.
func TestPDFsOfASpaceAreBounded(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	tenant := storetest.NewTenant(t, st, "ours")
	h := newExports(st, view.Presenter{})
	for i := range 100 {
		_, _, _, err := h.ask(t.Context(), tenant.Space, export{space: tenant.Space.ID, revision: tenant.Space.Revision, page: strconv.Itoa(i)})
		if e := schema.AsError(err); e != nil {
			if i < 10 || e.Code != schema.CodeUnavailable || e.RetryAfterSeconds() == 0 {
				t.Errorf("the PDF %d: %v", i, err)
			}
			return
		}
	}
	t.Error("there is no bound")
}

// TestSignedAddressesEnd checks a signed URL with a clock that is later than the URL's expiry.
func TestSignedAddressesEnd(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	tenant := storetest.NewTenant(t, st, "ours")
	exports := newExports(st, view.Presenter{})
	now := time.Now()
	e := export{space: tenant.Space.ID, revision: tenant.Space.Revision}
	signature, err := exports.signature(t.Context(), pdfPath, e.query(now.Add(pdfLifetime)))
	if err != nil {
		t.Fatal(err)
	}
	encoded, expires := base64.RawURLEncoding.EncodeToString(signature), int(now.Add(pdfLifetime).Unix())
	r := &signedRequest{Space: &e.space, Revision: &e.revision, Expires: &expires, Signature: &encoded}
	for after, ok := range map[time.Duration]bool{0: true, pdfLifetime - 2*time.Second: true, pdfLifetime + time.Second: false} {
		if err := exports.check(t.Context(), &access.Caller{Now: now.Add(after)}, pdfPath, r, e); (err == nil) != ok {
			t.Errorf("after %s: %v", after, err)
		}
	}
}
