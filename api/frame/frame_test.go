package frame_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/valyala/fasthttp"

	"github.com/octavo-docs/octavo/api"
	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/api/apitest"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/cmd/engine/enginetest/eventually"
	"github.com/octavo-docs/octavo/schema"
)

// probe returns an operation that the contract does not have. The test gives its function.
func probe[Req, Resp any](method, path string, fn func(ctx context.Context, c *access.Caller, req *Req) (Resp, error)) frame.Operation {
	return frame.Operation{
		Method: method, Path: path, ID: "probe", Tag: "test", Doc: "Probe the frame.", Scope: access.Public(), Status: http.StatusOK,
		Handler: frame.Handle(fn),
	}
}

type keepRequest struct {
	Path   string   `path:"name"`
	Query  *string  `query:"q"`
	List   []string `query:"list"`
	Header string   `header:"X-Keep"`
	Body   struct {
		Text  string   `json:"text"`
		Texts []string `json:"texts"`
	} `body:"json"`
}

// TestNothingAliasesTheRequest stores the strings that an operation's function gets, and overwrites the request's
// buffers. The stored strings do not change.
func TestNothingAliasesTheRequest(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	var kept keepRequest
	op := probe("POST", "/probe/{name}", func(_ context.Context, _ *access.Caller, r *keepRequest) (schema.User, error) {
		kept = *r
		return schema.User{}, nil
	})
	op.BodyLimit, op.Accepts = 1<<10, frame.MediaJSON
	h.Serve([]frame.Operation{op})

	var ctx *fasthttp.RequestCtx
	send := func(method, uri, token, body string) {
		// Each request has its own buffers. Otherwise a later request with equal bytes could repair values that alias
		// an earlier request.
		ctx = &fasthttp.RequestCtx{}
		ctx.Request.Header.SetMethod(method)
		ctx.Request.SetRequestURI(uri)
		ctx.Request.Header.Set("X-Keep", "header")
		ctx.Request.Header.Set("Idempotency-Key", "key-1")
		ctx.Request.Header.Set("Authorization", "Bearer "+token)
		ctx.Request.SetBodyString(body)
		h.Server.Handler()(ctx)
		for _, buffer := range [][]byte{
			ctx.Request.Body(), ctx.Request.URI().PathOriginal(), ctx.Request.URI().Path(), ctx.Request.URI().QueryString(),
			ctx.QueryArgs().Peek("q"), ctx.QueryArgs().Peek("list"), ctx.Request.Header.Peek("X-Keep"), ctx.Request.Header.RequestURI(),
			ctx.Request.Header.Peek("Authorization"), ctx.Request.Header.Peek("Idempotency-Key"),
		} {
			for i := range buffer {
				buffer[i] = '#'
			}
		}
	}
	send("POST", "/v1/probe/path?q=query&list=a,b", "", `{"text":"one","texts":["two"]}`)
	if ctx.Response.StatusCode() != 200 {
		t.Fatalf("%d %s", ctx.Response.StatusCode(), ctx.Response.Body())
	}
	got := fmt.Sprint(kept.Path, *kept.Query, kept.List, kept.Header, kept.Body)
	if want := fmt.Sprint("path", "query", []string{"a", "b"}, "header", struct {
		A string
		B []string
	}{"one", []string{"two"}}); got != want {
		t.Errorf("kept %s, want %s", got, want)
	}

	// The frame's caches must not refer to the memory of the request either.
	org, site := h.Ours.Organization.ID, h.Ours.Site.ID
	send("POST", "/v1/orgs/"+org+"/sites/"+site+"/insights/events", h.Ours.Tokens[schema.RoleRead], `{"events":[]}`)
	if ctx.Response.StatusCode() != 204 {
		t.Fatalf("%d %s", ctx.Response.StatusCode(), ctx.Response.Body())
	}
	// The token and the site are still found after the buffers are overwritten. They come from the caches, because the
	// store has stopped.
	h.Store.Stop()
	send("POST", "/v1/orgs/"+org+"/sites/"+site+"/insights/events", h.Ours.Tokens[schema.RoleRead], `{"events":[]}`)
	if ctx.Response.StatusCode() != 204 {
		t.Errorf("asked again: %d %s", ctx.Response.StatusCode(), ctx.Response.Body())
	}
	if got := h.Intake.From[0].IdempotencyKey; got != "key-1" {
		t.Errorf("idempotency key %q", got)
	}
	if got := h.Intake.Sites[0]; got.OrganizationID != org || got.SiteID != site {
		t.Errorf("site %+v", got)
	}
}

// TestPostgresAway stops the connections to Postgres while the server runs. The answer is 503 with Retry-After, not
// 500.
func TestPostgresAway(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	h.Store.Stop()
	for _, path := range []string{"/v1/user", "/v1/orgs"} {
		a := h.Do("GET", path, h.Ours.Tokens[schema.RoleAdmin], nil)
		h.WantError(a, http.StatusServiceUnavailable)
		if a.Header.Get("Retry-After") == "" {
			t.Error("no Retry-After")
		}
	}
}

func TestPanicIsOneFailedRequest(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	metrics := apitest.TestMetrics(t)
	h.Serve([]frame.Operation{probe("GET", "/probe", func(context.Context, *access.Caller, *struct{}) (schema.User, error) {
		panic("secret state")
	})}, func(_ *frame.Config, d *api.Deps) { d.Metrics = metrics })
	for range 3 {
		a := h.Do("GET", "/v1/probe", "", nil)
		h.WantError(a, http.StatusInternalServerError)
		if strings.Contains(string(a.Body), "secret") {
			t.Errorf("%s", a.Body)
		}
	}
	if !strings.Contains(h.Log.String(), "secret state") || !strings.Contains(h.Log.String(), "frame_test.go") {
		t.Error("the log does not have the panic with its stack")
	}
	if got := testutil.ToFloat64(metrics.Panics("probe")); got != 3 {
		t.Errorf("%v panics counted", got)
	}
	if got := testutil.ToFloat64(metrics.Requests("probe", "500")); got != 3 {
		t.Errorf("%v requests counted", got)
	}
}

// TestMalformedRequests sends bytes that are not a valid request. The answer still has the form of errors in the
// contract.
func TestMalformedRequests(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	// impatient is only for requests that never arrive completely. A complete large request may take longer than its
	// timeouts on a busy machine.
	impatient := apitest.New(t, func(c *frame.Config, _ *api.Deps) {
		c.HeaderTimeout, c.ReadTimeout = 300*time.Millisecond, 300*time.Millisecond
	})
	events := "/v1/orgs/" + h.Ours.Organization.ID + "/sites/" + h.Ours.Site.ID + "/insights/events"
	key := "Authorization: Bearer " + h.Ours.SiteKey + "\r\n"
	for name, test := range map[string]struct {
		request string
		status  int
	}{
		"no HTTP":        {"hello\r\n\r\n", 400},
		"bad length":     {"POST /v1/orgs HTTP/1.1\r\nHost: x\r\nContent-Length: x\r\n\r\n", 400},
		"bad escape":     {"GET /v1/orgs/%zz HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + h.Ours.SiteKey + "\r\n\r\n", 403},
		"large headers":  {"GET /v1/user HTTP/1.1\r\nHost: x\r\nX-Large: " + strings.Repeat("x", 20<<10) + "\r\n\r\n", 413},
		"huge body":      {"POST " + events + " HTTP/1.1\r\nHost: x\r\n" + key + "Content-Length: 99999999\r\n\r\n" + strings.Repeat("x", 1<<20), 413},
		"large chunks":   {"POST " + events + " HTTP/1.1\r\nHost: x\r\n" + key + "Transfer-Encoding: chunked\r\n\r\n" + strings.Repeat("100000\r\n"+strings.Repeat("x", 1<<20)+"\r\n", 9) + "0\r\n\r\n", 413},
		"slow":           {"GET /v1/user HTTP/1.1\r\nHost: x\r\n", 408},
		"slow body":      {"POST " + events + " HTTP/1.1\r\nHost: x\r\n" + key + "Content-Length: 10\r\n\r\n{", 408},
		"slow chunks":    {"POST " + events + " HTTP/1.1\r\nHost: x\r\n" + key + "Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n", 408},
		"broken chunks":  {"POST " + events + " HTTP/1.1\r\nHost: x\r\n" + key + "Transfer-Encoding: chunked\r\n\r\nzz\r\n", 400},
		"multipart body": {"POST " + events + " HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + h.Ours.SiteKey + "\r\nContent-Type: multipart/form-data; boundary=x\r\nContent-Length: 1\r\n\r\nx", 415},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := h.Server
			if strings.HasPrefix(name, "slow") {
				server = impatient.Server
				test.request = strings.NewReplacer(h.Ours.SiteKey, impatient.Ours.SiteKey, h.Ours.Organization.ID, impatient.Ours.Organization.ID,
					h.Ours.Site.ID, impatient.Ours.Site.ID).Replace(test.request)
			}
			conn, err := net.Dial("tcp", server.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = conn.Close() }()
			_ = conn.SetDeadline(time.Now().Add(eventually.Patience))
			if _, err := io.WriteString(conn, test.request); err != nil {
				t.Fatal(err)
			}
			response, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = response.Body.Close() }()
			body, err := io.ReadAll(response.Body)
			if err != nil {
				t.Fatal(err)
			}
			h.WantError(apitest.Answer{Status: response.StatusCode, Header: response.Header, Body: body}, test.status)
		})
	}
}

func TestRequestIDs(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	if a := h.Do("GET", "/v1/user", "", nil, "X-Request-Id", "trace-1/a:b"); a.Header.Get("X-Request-Id") != "trace-1/a:b" {
		t.Errorf("sane id became %q", a.Header.Get("X-Request-Id"))
	}
	if !strings.Contains(h.Log.String(), `"request_id":"trace-1/a:b"`) {
		t.Error("the log does not have the id")
	}
	seen := map[string]bool{}
	for _, odd := range []string{"", "a b", strings.Repeat("x", 129), `"}`, "ä"} {
		got := h.Do("GET", "/v1/user", "", nil, "X-Request-Id", odd).Header.Get("X-Request-Id")
		if got == odd || len(got) != 32 || seen[got] {
			t.Errorf("%q became %q", odd, got)
		}
		seen[got] = true
	}
}

func TestBrowsersMayPostEvents(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	events := "/v1/orgs/" + h.Ours.Organization.ID + "/sites/" + h.Ours.Site.ID + "/insights/events"
	asked := h.Do("OPTIONS", events, "", nil, "Origin", "https://docs.acme.test", "Access-Control-Request-Method", "POST",
		"Access-Control-Request-Headers", "authorization,content-type")
	for name, want := range map[string]string{
		"Access-Control-Allow-Origin": "*", "Access-Control-Allow-Methods": "POST", "Access-Control-Allow-Headers": "Authorization",
	} {
		if got := asked.Header.Get(name); !strings.Contains(got, want) {
			t.Errorf("%s: %q", name, got)
		}
	}
	if asked.Status != 204 || asked.Header.Get("Access-Control-Allow-Credentials") != "" {
		t.Errorf("preflight: %d", asked.Status)
	}
	for _, token := range []string{h.Ours.SiteKey, ""} {
		if a := h.Do("POST", events, token, `{"events":[]}`); a.Header.Get("Access-Control-Allow-Origin") != "*" {
			t.Errorf("%d without Access-Control-Allow-Origin", a.Status)
		}
	}
	if a := h.Do("GET", "/v1/user", "", nil); a.Header.Get("Access-Control-Allow-Origin") != "" {
		t.Error("an operation that is not for browsers allows their origins")
	}
}

// TestTrustedOrigins checks that pages of trusted origins may read every answer, including refusals. Pages of other
// origins may read no answer. Answers never allow credentials that a browser adds by itself, such as cookies.
func TestTrustedOrigins(t *testing.T) {
	t.Parallel()
	const trusted, port = "https://app.example.com", "http://localhost:5173"
	h := apitest.New(t, func(c *frame.Config, _ *api.Deps) { c.TrustedOrigins = []string{trusted, port} })
	admin := h.Ours.Tokens[schema.RoleAdmin]
	organization := "/v1/orgs/" + h.Ours.Organization.ID
	events := organization + "/sites/" + h.Ours.Site.ID + "/insights/events"
	for origin, allowed := range map[string]string{
		trusted: trusted, port: port, "": "", "null": "", "https://app.example.com.evil.test": "",
		"http://app.example.com": "", "https://app.example.com:8443": "", "https://other.example.com": "",
	} {
		for _, c := range []struct {
			method, path, token string
			status              int
		}{
			{"GET", "/v1/user", admin, 200}, {"GET", "/v1/user", "", 401}, {"GET", organization + "/spaces/none", admin, 404},
			{"GET", "/v1/nothing", admin, 404}, {"PUT", "/v1/user", admin, 405}, {"OPTIONS", organization, "", 204},
			{"POST", organization + "/spaces", admin, 201},
		} {
			a := h.Do(c.method, c.path, c.token, nil, "Origin", origin, "Access-Control-Request-Method", "PATCH")
			preflight := c.method == "OPTIONS" && allowed != ""
			if got := a.Header.Get("Access-Control-Allow-Origin"); a.Status != c.status || got != allowed ||
				a.Header.Get("Vary") != "Origin" || a.Header.Get("Access-Control-Allow-Credentials") != "" ||
				strings.Contains(a.Header.Get("Access-Control-Allow-Methods"), "PATCH") != preflight ||
				strings.Contains(a.Header.Get("Access-Control-Allow-Headers"), "If-Match") != preflight ||
				strings.Contains(a.Header.Get("Access-Control-Expose-Headers"), "ETag") != (allowed != "") {
				t.Errorf("%s %s from %q: %d %v", c.method, c.path, origin, a.Status, a.Header)
			}
		}
		a := h.Do("POST", events, h.Ours.SiteKey, `{"events":[]}`, "Origin", origin)
		if a.Header.Get("Access-Control-Allow-Origin") != "*" {
			t.Errorf("events from %q: %v", origin, a.Header)
		}
	}
}

func TestEncodedBodiesAreRead(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	events := "/v1/orgs/" + h.Ours.Organization.ID + "/sites/" + h.Ours.Site.ID + "/insights/events"
	want := `{"events":["` + strings.Repeat("é", 50_000) + `"]}`
	// Each body is sent twice, so that pooled decompressors are reused.
	for range 2 {
		for name, encode := range apitest.Encoders {
			if a := h.Do("POST", events, h.Ours.SiteKey, encode(t, []byte(want)), "Content-Encoding", name); a.Status != 204 {
				t.Errorf("%s: %d %s", name, a.Status, a.Body)
			}
			a := h.Do("POST", events, h.Ours.SiteKey, encode(t, []byte(want))[:40], "Content-Encoding", name)
			h.WantError(a, http.StatusBadRequest)
		}
	}
	if len(h.Intake.Bodies) != 2*len(apitest.Encoders) {
		t.Errorf("%d bodies came in", len(h.Intake.Bodies))
	}
	for _, got := range h.Intake.Bodies {
		if got != want {
			t.Error("a body was changed on its way")
		}
	}
}
