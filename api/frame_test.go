package api

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/valyala/fasthttp"

	"github.com/octavo-docs/octavo/schema"
)

// probe is a row that is in no contract; tests give it a function.
func probe[Req, Resp any](method, path string, fn func(ctx context.Context, c *Caller, req *Req) (Resp, error)) Operation {
	return Operation{
		Method: method, Path: path, ID: "probe", Tag: "test", Doc: "Probe the frame.", Scope: public(), Status: http.StatusOK,
		Handler: handle(fn),
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

// TestNothingAliasesTheRequest keeps every string that a function can see, spoils the request's buffers, and looks again.
func TestNothingAliasesTheRequest(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	var kept keepRequest
	op := probe("POST", "/probe/{name}", func(_ context.Context, _ *Caller, r *keepRequest) (schema.User, error) {
		kept = *r
		return schema.User{}, nil
	})
	op.BodyLimit, op.Accepts = 1<<10, mediaJSON
	h.serve([]Operation{op})

	ctx := &fasthttp.RequestCtx{}
	send := func(method, uri, token, body string) {
		ctx.Request.Reset()
		ctx.Response.Reset()
		ctx.Request.Header.SetMethod(method)
		ctx.Request.SetRequestURI(uri)
		ctx.Request.Header.Set("X-Keep", "header")
		ctx.Request.Header.Set("Idempotency-Key", "key-1")
		ctx.Request.Header.Set("Authorization", "Bearer "+token)
		ctx.Request.SetBodyString(body)
		h.server.Handler()(ctx)
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

	// What the frame itself remembers must not be the request's either.
	org, site := h.ours.Organization.ID, h.ours.Site.ID
	send("POST", "/v1/orgs/"+org+"/sites/"+site+"/insights/events", h.ours.Tokens[schema.RoleRead], `{"events":[]}`)
	if ctx.Response.StatusCode() != 204 {
		t.Fatalf("%d %s", ctx.Response.StatusCode(), ctx.Response.Body())
	}
	// It is found again after the buffers were spoiled, without the database.
	h.st.Stop()
	send("POST", "/v1/orgs/"+org+"/sites/"+site+"/insights/events", h.ours.Tokens[schema.RoleRead], `{"events":[]}`)
	if ctx.Response.StatusCode() != 204 {
		t.Errorf("asked again: %d %s", ctx.Response.StatusCode(), ctx.Response.Body())
	}
	if got := h.intake.from[0].IdempotencyKey; got != "key-1" {
		t.Errorf("idempotency key %q", got)
	}
	if got := h.intake.sites[0]; got.OrganizationID != org || got.SiteID != site {
		t.Errorf("site %+v", got)
	}
}

// TestDatabaseTextStaysInside breaks the database under the server and looks for its words in every answer.
func TestDatabaseTextStaysInside(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	paths, bodies := make([]string, len(h.table)), make([]any, len(h.table))
	for i := range h.table {
		paths[i], bodies[i] = h.example(&h.table[i], h.ours)
	}
	for table := range h.rows() {
		h.exec("alter table " + table + " rename to " + table + "_lost")
	}
	for i := range h.table {
		op := &h.table[i]
		a := h.do(op.Method, paths[i], h.ours.Tokens[schema.RoleAdmin], bodies[i])
		if !op.Scope.public { // Its example may need no table.
			h.wantError(a, http.StatusInternalServerError)
		} else if a.status < 400 {
			continue // These are no words but a file.
		}
		for _, word := range []string{"relation", "SQLSTATE", "42P01", "pgx", "postgres", "sites", "does not exist", "select"} {
			if strings.Contains(strings.ToLower(string(a.body)), strings.ToLower(word)) {
				t.Errorf("%s: %s", op.ID, a.body)
			}
		}
	}
	if !strings.Contains(h.log.String(), "42P01") {
		t.Error("the log does not have the cause")
	}
	for _, secret := range []string{h.ours.Tokens[schema.RoleAdmin], h.ours.SiteKey} {
		if strings.Contains(h.log.String(), secret) {
			t.Error("the log has a token")
		}
	}
}

// TestPostgresAway closes the store under the server: 503 with Retry-After, not 500.
func TestPostgresAway(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	h.st.Stop()
	for _, path := range []string{"/v1/user", "/v1/orgs"} {
		a := h.do("GET", path, h.ours.Tokens[schema.RoleAdmin], nil)
		h.wantError(a, http.StatusServiceUnavailable)
		if a.header.Get("Retry-After") == "" {
			t.Error("no Retry-After")
		}
	}
}

func TestPanicIsOneFailedRequest(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	metrics := testMetrics(t)
	h.serve([]Operation{probe("GET", "/probe", func(context.Context, *Caller, *struct{}) (schema.User, error) {
		panic("secret state")
	})}, func(_ *Config, d *Deps) { d.Metrics = metrics })
	for range 3 {
		a := h.do("GET", "/v1/probe", "", nil)
		h.wantError(a, http.StatusInternalServerError)
		if strings.Contains(string(a.body), "secret") {
			t.Errorf("%s", a.body)
		}
	}
	if !strings.Contains(h.log.String(), "secret state") || !strings.Contains(h.log.String(), "frame_test.go") {
		t.Error("the log does not have the panic with its stack")
	}
	if got := testutil.ToFloat64(metrics.Panics("probe")); got != 3 {
		t.Errorf("%v panics counted", got)
	}
	if got := testutil.ToFloat64(metrics.Requests("probe", "500")); got != 3 {
		t.Errorf("%v requests counted", got)
	}
}

// TestMalformedRequests writes bytes that are no request; the answer has the contract's shape even so.
func TestMalformedRequests(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	// Only what never arrives may meet a short time: a large request may take its while on a busy machine.
	impatient := newHarness(t, func(c *Config, _ *Deps) { c.HeaderTimeout, c.ReadTimeout = 300*time.Millisecond, 300*time.Millisecond })
	events := "/v1/orgs/" + h.ours.Organization.ID + "/sites/" + h.ours.Site.ID + "/insights/events"
	key := "Authorization: Bearer " + h.ours.SiteKey + "\r\n"
	for name, test := range map[string]struct {
		request string
		status  int
	}{
		"no HTTP":        {"hello\r\n\r\n", 400},
		"bad length":     {"POST /v1/orgs HTTP/1.1\r\nHost: x\r\nContent-Length: x\r\n\r\n", 400},
		"bad escape":     {"GET /v1/orgs/%zz HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + h.ours.SiteKey + "\r\n\r\n", 403},
		"large headers":  {"GET /v1/user HTTP/1.1\r\nHost: x\r\nX-Large: " + strings.Repeat("x", 20<<10) + "\r\n\r\n", 413},
		"huge body":      {"POST " + events + " HTTP/1.1\r\nHost: x\r\n" + key + "Content-Length: 99999999\r\n\r\n" + strings.Repeat("x", 1<<20), 413},
		"large chunks":   {"POST " + events + " HTTP/1.1\r\nHost: x\r\n" + key + "Transfer-Encoding: chunked\r\n\r\n" + strings.Repeat("100000\r\n"+strings.Repeat("x", 1<<20)+"\r\n", 9) + "0\r\n\r\n", 413},
		"slow":           {"GET /v1/user HTTP/1.1\r\nHost: x\r\n", 408},
		"slow body":      {"POST " + events + " HTTP/1.1\r\nHost: x\r\n" + key + "Content-Length: 10\r\n\r\n{", 408},
		"slow chunks":    {"POST " + events + " HTTP/1.1\r\nHost: x\r\n" + key + "Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n", 408},
		"broken chunks":  {"POST " + events + " HTTP/1.1\r\nHost: x\r\n" + key + "Transfer-Encoding: chunked\r\n\r\nzz\r\n", 400},
		"multipart body": {"POST " + events + " HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + h.ours.SiteKey + "\r\nContent-Type: multipart/form-data; boundary=x\r\nContent-Length: 1\r\n\r\nx", 415},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := h.server
			if strings.HasPrefix(name, "slow") {
				server = impatient.server
				test.request = strings.NewReplacer(h.ours.SiteKey, impatient.ours.SiteKey, h.ours.Organization.ID, impatient.ours.Organization.ID,
					h.ours.Site.ID, impatient.ours.Site.ID).Replace(test.request)
			}
			conn, err := net.Dial("tcp", server.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = conn.Close() }()
			_ = conn.SetDeadline(time.Now().Add(time.Minute))
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
			h.wantError(answer{status: response.StatusCode, header: response.Header, body: body}, test.status)
		})
	}
}

func TestRequestIDs(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	if a := h.do("GET", "/v1/user", "", nil, "X-Request-Id", "trace-1/a:b"); a.header.Get("X-Request-Id") != "trace-1/a:b" {
		t.Errorf("sane id became %q", a.header.Get("X-Request-Id"))
	}
	if !strings.Contains(h.log.String(), `"request_id":"trace-1/a:b"`) {
		t.Error("the log does not have the id")
	}
	seen := map[string]bool{}
	for _, odd := range []string{"", "a b", strings.Repeat("x", 129), `"}`, "ä"} {
		got := h.do("GET", "/v1/user", "", nil, "X-Request-Id", odd).header.Get("X-Request-Id")
		if got == odd || len(got) != 32 || seen[got] {
			t.Errorf("%q became %q", odd, got)
		}
		seen[got] = true
	}
}

func TestBrowsersMayPostEvents(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	events := "/v1/orgs/" + h.ours.Organization.ID + "/sites/" + h.ours.Site.ID + "/insights/events"
	asked := h.do("OPTIONS", events, "", nil, "Origin", "https://docs.acme.test", "Access-Control-Request-Method", "POST",
		"Access-Control-Request-Headers", "authorization,content-type")
	for name, want := range map[string]string{
		"Access-Control-Allow-Origin": "*", "Access-Control-Allow-Methods": "POST", "Access-Control-Allow-Headers": "Authorization",
	} {
		if got := asked.header.Get(name); !strings.Contains(got, want) {
			t.Errorf("%s: %q", name, got)
		}
	}
	if asked.status != 204 || asked.header.Get("Access-Control-Allow-Credentials") != "" {
		t.Errorf("preflight: %d", asked.status)
	}
	for _, token := range []string{h.ours.SiteKey, ""} {
		if a := h.do("POST", events, token, `{"events":[]}`); a.header.Get("Access-Control-Allow-Origin") != "*" {
			t.Errorf("%d without Access-Control-Allow-Origin", a.status)
		}
	}
	if a := h.do("GET", "/v1/user", "", nil); a.header.Get("Access-Control-Allow-Origin") != "" {
		t.Error("an operation that is not for browsers allows their origins")
	}
}

func TestEncodedBodiesAreRead(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	events := "/v1/orgs/" + h.ours.Organization.ID + "/sites/" + h.ours.Site.ID + "/insights/events"
	want := `{"events":["` + strings.Repeat("é", 50_000) + `"]}`
	// Twice, so that decompressors are used again.
	for range 2 {
		for name, encode := range encoders {
			if a := h.do("POST", events, h.ours.SiteKey, encode(t, []byte(want)), "Content-Encoding", name); a.status != 204 {
				t.Errorf("%s: %d %s", name, a.status, a.body)
			}
			a := h.do("POST", events, h.ours.SiteKey, encode(t, []byte(want))[:40], "Content-Encoding", name)
			h.wantError(a, http.StatusBadRequest)
		}
	}
	if len(h.intake.bodies) != 2*len(encoders) {
		t.Errorf("%d bodies came in", len(h.intake.bodies))
	}
	for _, got := range h.intake.bodies {
		if got != want {
			t.Error("a body was changed on its way")
		}
	}
}

func TestEventsGoToTheIntake(t *testing.T) {
	t.Parallel()
	h := newHarness(t, func(c *Config, _ *Deps) { c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")} })
	h.exec("update sites set store_clear_ids = true where id = $1", h.ours.Site.ID)
	events := "/v1/orgs/" + h.ours.Organization.ID + "/sites/" + h.ours.Site.ID + "/insights/events"
	for i, token := range []string{h.ours.SiteKey, h.ours.Tokens[schema.RoleGuest], h.ours.Tokens[schema.RoleAdmin]} {
		a := h.do("POST", events, token, `{"events":[1]}`, "X-Forwarded-For", "198.51.100.7", "Idempotency-Key", "k")
		if a.status != 204 || len(a.body) != 0 || a.header.Get("Content-Type") != "" {
			t.Fatalf("%d %q", a.status, a.body)
		}
		site, from := h.intake.sites[i], h.intake.from[i]
		if site != (schema.EventSite{OrganizationID: h.ours.Organization.ID, SiteID: h.ours.Site.ID, StoreClearIDs: true}) {
			t.Errorf("site %+v", site)
		}
		if from.IP.String() != "198.51.100.7" || from.IdempotencyKey != "k" || time.Since(from.Now).Abs() > time.Minute {
			t.Errorf("from %+v", from)
		}
		// Only a user's token imports.
		if from.AnyPast != (token != h.ours.SiteKey) {
			t.Errorf("token %d: events of any past %v", i, from.AnyPast)
		}
	}
	h.intake.run = func([]byte) error { return schema.Invalid("events[0].type", "is required") }
	e := h.wantError(h.do("POST", events, h.ours.SiteKey, `{"events":[{}]}`), 400)
	if e.Message != "events[0].type is required" {
		t.Errorf("%+v", e)
	}
	h.intake.run = func([]byte) error { return schema.TooManyRequests("slow down", 1500*time.Millisecond) }
	if a := h.do("POST", events, h.ours.SiteKey, `{"events":[]}`); a.status != 429 || a.header.Get("Retry-After") != "2" {
		t.Errorf("%d, Retry-After %q", a.status, a.header.Get("Retry-After"))
	}
	h.wantError(h.do("POST", events, h.ours.SiteKey, `{"events":[]}`, "Idempotency-Key", strings.Repeat("x", 256)), 400)
}

func TestQuestionsGoToInsights(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	base := "/v1/orgs/" + h.ours.Organization.ID + "/sites/" + h.ours.Site.ID + "/insights"
	a := h.do("POST", base+"/events/aggregate", h.ours.Tokens[schema.RoleRead], `{"range":"lastYear"}`)
	if a.status != 200 || string(a.body) != `{"columns":[]}` || a.header.Get("X-Octavo-Site") != h.ours.Site.ID {
		t.Errorf("%d %s %v", a.status, a.body, a.header)
	}
	asker := strings.Fields(a.header.Get("X-Octavo-Asker"))
	if len(asker) != 3 || asker[0] != h.ours.Organization.ID || asker[1] == "" || asker[2] != a.header.Get("X-Request-Id") {
		t.Errorf("asked by %v", asker)
	}
	h.wantError(h.do("POST", base+"/events/aggregate", h.ours.Tokens[schema.RoleRead], `{}`), 400)
	if a := h.do("GET", base+"/visitor-segments", h.ours.Tokens[schema.RoleRead], nil); string(a.body) != `{"items":[],"count":0}` {
		t.Errorf("%d %s", a.status, a.body)
	}
}
