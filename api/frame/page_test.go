package frame_test

import (
	"context"
	"encoding/json"
	"html/template"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/api/apitest"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/schema"
)

type formRequest struct {
	Seen string `cookie:"seen"`
	Body struct {
		Text   *string  `json:"text" rules:"required,len=1..10"`
		Number int      `json:"number" rules:"range=..5"`
		Flag   bool     `json:"flag"`
		Many   []string `json:"many"`
	} `body:"form"`
}

// formServer serves one operation that takes a form and answers with a page. `answer` returns the page.
func formServer(t *testing.T, answer func(r formRequest) frame.Page) *apitest.Harness {
	t.Helper()
	h := apitest.New(t)
	op := probe("POST", "/probe", func(_ context.Context, _ *access.Caller, r *formRequest) (frame.Page, error) {
		if r.Body.Text != nil && *r.Body.Text == "gone" {
			return frame.Page{}, schema.NotFound("<b>thing</b>")
		}
		return answer(*r), nil
	})
	op.BodyLimit, op.Redirects = 64<<10, true
	op.Accepts = frame.MediaForm
	h.Serve([]frame.Operation{op})
	return h
}

func TestForms(t *testing.T) {
	t.Parallel()
	var got formRequest
	h := formServer(t, func(r formRequest) frame.Page {
		got = r
		return frame.Page{Title: "Done", Body: "<p>well</p>"}
	})
	for name, test := range map[string]struct {
		media, body, field string
		status             int
	}{
		"good":            {"", "text=a+b%26&number=3&flag=true&many=x&many=y&other=1", "", 200},
		"multipart":       {"multipart/form-data; boundary=x", "--x\r\nContent-Disposition: form-data; name=\"text\"\r\n\r\na\r\n--x--\r\n", "", 415},
		"missing":         {"", "number=3", "text", 400},
		"empty":           {"", "", "text", 400},
		"twice":           {"", "text=a&text=b", "text", 400},
		"too long":        {"", "text=" + strings.Repeat("x", 11), "text", 400},
		"not a number":    {"", "text=a&number=x", "number", 400},
		"too large":       {"", "text=a&number=6", "number", 400},
		"no text":         {"", "text=%ff", "text", 400},
		"NUL":             {"", "text=%00", "text", 400},
		"JSON":            {"application/json", `{"text":"a"}`, "", 415},
		"more than bound": {"", "text=a&other=" + strings.Repeat("x", 64<<10), "", 413},
	} {
		media := test.media
		if media == "" {
			media = frame.MediaForm[0]
		}
		got = formRequest{}
		a := h.Do("POST", "/v1/probe", "", test.body, "Content-Type", media, "Cookie", "other=1; seen=yes")
		if test.status != 200 {
			e := h.WantError(a, test.status)
			if test.field != "" && (len(e.Details) != 1 || e.Details[0].Field != test.field) {
				t.Errorf("%s: %s", name, a.Body)
			}
			continue
		}
		if a.Status != 200 || got.Body.Text == nil || *got.Body.Text != "a b&" || got.Body.Number != 3 || !got.Body.Flag ||
			!slices.Equal(got.Body.Many, []string{"x", "y"}) || got.Seen != "yes" {
			t.Errorf("%s: %d %s, got %+v", name, a.Status, a.Body, got)
		}
	}
}

// TestPagesAreIsolated: a page runs no scripts and cannot be framed or cached. Errors are answered with a page only if
// the client accepts HTML.
func TestPagesAreIsolated(t *testing.T) {
	t.Parallel()
	h := formServer(t, func(r formRequest) frame.Page {
		if r.Body.Flag {
			return frame.Page{To: "https://docs.example.com/next", Cookies: []*http.Cookie{{Name: "seen", Value: "no", HttpOnly: true}}}
		}
		return frame.Page{Title: `<script>`, Body: template.HTML("<p>" + template.HTMLEscapeString(*r.Body.Text) + "</p>")}
	})
	isolated := func(a apitest.Answer) {
		t.Helper()
		policy := a.Header.Get("Content-Security-Policy")
		if !strings.HasPrefix(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") || !strings.Contains(policy, "frame-ancestors 'none'") ||
			a.Header.Get("Cache-Control") != "no-store" || a.Header.Get("X-Frame-Options") != "DENY" || a.Header.Get("Referrer-Policy") != "no-referrer" ||
			a.Header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%v", a.Header)
		}
	}
	const accept = "text/html,application/xhtml+xml,*/*;q=0.8"
	page := h.Do("POST", "/v1/probe", "", apitest.Form{Body: "text=<b>"}, "Accept", accept)
	isolated(page)
	if page.Status != 200 || page.Header.Get("Content-Type") != "text/html; charset=utf-8" || !strings.Contains(string(page.Body), "&lt;b&gt;") ||
		strings.Contains(string(page.Body), "<script>") {
		t.Errorf("%d %v %s", page.Status, page.Header, page.Body)
	}
	away := h.Do("POST", "/v1/probe", "", apitest.Form{Body: "text=a&flag=true"})
	isolated(away)
	if away.Status != 303 || away.Header.Get("Location") != "https://docs.example.com/next" || away.Header.Get("Set-Cookie") != "seen=no; HttpOnly" {
		t.Errorf("%d %v", away.Status, away.Header)
	}
	for body, want := range map[string]struct {
		status int
		text   string
	}{
		"text=gone": {404, "&lt;b&gt;thing"}, "number=6": {400, "text is required"},
	} {
		refused := h.Do("POST", "/v1/probe", "", apitest.Form{Body: body}, "Accept", accept)
		isolated(refused)
		if refused.Status != want.status || refused.Header.Get("Content-Type") != "text/html; charset=utf-8" || !strings.Contains(string(refused.Body), want.text) {
			t.Errorf("%s: %d %v %s", body, refused.Status, refused.Header, refused.Body)
		}
		h.WantError(h.Do("POST", "/v1/probe", "", apitest.Form{Body: body}), want.status)
		h.WantError(h.Do("POST", "/v1/probe", "", apitest.Form{Body: body}, "Accept", "application/json, */*"), want.status)
	}
	// Errors of operations that do not answer with pages are JSON, even if the caller accepts HTML.
	h.WantError(h.Do("GET", "/v1/user", "", nil, "Accept", accept), 401)
}

// TestRedirects checks an operation that redirects the browser, and its description in the OpenAPI document.
func TestRedirects(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	op := probe("GET", "/probe", func(context.Context, *access.Caller, *struct{}) (frame.Redirect, error) {
		return frame.Redirect{To: "https://idp.example.com/sso?x=1&y=2"}, nil
	})
	op.Status = http.StatusFound
	h.Serve([]frame.Operation{op})
	a := h.Do("GET", "/v1/probe", "", nil)
	if a.Status != 302 || a.Header.Get("Location") != "https://idp.example.com/sso?x=1&y=2" || a.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("%d %v", a.Status, a.Header)
	}
	var document struct {
		Paths map[string]struct {
			Get struct {
				Responses map[string]struct {
					Headers map[string]any `json:"headers"`
				} `json:"responses"`
			} `json:"get"`
		} `json:"paths"`
	}
	if err := json.Unmarshal(h.Do("GET", "/v1/openapi.json", "", nil).Body, &document); err != nil {
		t.Fatal(err)
	}
	if document.Paths["/probe"].Get.Responses["302"].Headers["Location"] == nil {
		t.Errorf("described as %+v", document.Paths["/probe"])
	}
}

func TestATableThatCannotBeDescribed(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	type answer struct {
		Complex complex128 `json:"complex"`
	}
	h.Serve([]frame.Operation{probe("GET", "/probe", func(context.Context, *access.Caller, *struct{}) (answer, error) {
		return answer{}, nil
	})})
	for range 2 {
		for _, encoding := range []string{"", "gzip"} {
			h.WantError(
				h.Do("GET", "/v1/openapi.json", "", nil, "Accept-Encoding", encoding), http.StatusInternalServerError,
			)
		}
	}
	if !strings.Contains(h.Log.String(), "cannot describe complex128") {
		t.Errorf("the log has no cause: %s", h.Log)
	}
}
