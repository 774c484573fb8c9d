package api

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest/capture"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/storetest"
)

// harness is a served table on a database of its own, with two tenants in it.
type harness struct {
	t      testing.TB
	url    string
	st     *store.Store
	server *Server
	// table are the rows that server serves.
	table   []Operation
	base    string
	ours    *storetest.Tenant
	theirs  *storetest.Tenant
	intake  *fakeIntake
	answers *fakeInsights
	log     *capture.Buffer
	dns     *txtRecords
}

type option func(*Config, *Deps)

func newHarness(t testing.TB, options ...option) *harness {
	t.Helper()
	url := storetest.URL(t)
	h := &harness{t: t, url: url, st: storetest.Open(t, url), intake: &fakeIntake{}, answers: &fakeInsights{}, log: &capture.Buffer{}, dns: &txtRecords{}}
	h.ours, h.theirs = storetest.NewTenant(t, h.st, "ours"), storetest.NewTenant(t, h.st, "theirs")
	h.serve(nil, options...)
	return h
}

// in gives the harness to a subtest: its failures are those of t.
func (h *harness) in(t testing.TB) *harness {
	inner := *h
	inner.t = t
	return &inner
}

// serve starts a server on the harness's store; extra rows join the table.
func (h *harness) serve(extra []Operation, options ...option) {
	h.t.Helper()
	cfg := Config{Listen: "127.0.0.1:0", BaseURL: "https://docs.example.com/base"}
	deps := Deps{
		Store: h.st, Intake: h.intake, Insights: h.answers, Balances: balancesOf{}, Metrics: testMetrics(h.t), Resolver: h.dns,
		Log: slog.New(slog.NewJSONHandler(h.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
	for _, o := range options {
		o(&cfg, &deps)
	}
	server, err := NewWith(cfg, deps, Table{Operations: extra})
	if err != nil {
		h.t.Fatal(err)
	}
	h.server, h.table = server, append(TheTable().Operations, extra...)
	if err := h.server.Start(h.t.Context()); err != nil {
		h.t.Fatal(err)
	}
	h.base = "http://" + server.Addr().String()
	h.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		client.CloseIdleConnections()
		if err := server.Stop(ctx); err != nil {
			h.t.Errorf("stop: %v", err)
		}
	})
}

func testMetrics(t testing.TB) *PrometheusMetrics {
	t.Helper()
	m, err := NewPrometheusMetrics(prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// patience is how long a condition is waited for. It only bounds a failure.
const patience = 30 * time.Second

var client = &http.Client{Timeout: 20 * time.Second}

type answer struct {
	status int
	header http.Header
	body   []byte
}

// do sends one request; body may be a string, []byte, or anything that encodes to JSON.
func (h *harness) do(method, path, token string, body any, header ...string) answer {
	h.t.Helper()
	return h.doBase(h.base, method, path, token, body, header...)
}

func (h *harness) doBase(base, method, path, token string, body any, header ...string) answer {
	h.t.Helper()
	var reader io.Reader
	switch b := body.(type) {
	case nil:
	case string:
		reader = strings.NewReader(b)
	case []byte:
		reader = bytes.NewReader(b)
	default:
		encoded, err := json.Marshal(b)
		if err != nil {
			h.t.Fatal(err)
		}
		reader = bytes.NewReader(encoded)
	}
	req, err := http.NewRequestWithContext(h.t.Context(), method, base+path, reader)
	if err != nil {
		h.t.Fatal(err)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	for i := 0; i < len(header); i += 2 {
		if header[i+1] == "" {
			req.Header.Del(header[i])
			continue
		}
		req.Header.Set(header[i], header[i+1])
	}
	response, err := client.Do(req)
	if err != nil {
		h.t.Fatalf("%s %s: %v", method, path, err)
	}
	defer func() { _ = response.Body.Close() }()
	read, err := io.ReadAll(response.Body)
	if err != nil {
		h.t.Fatalf("%s %s: %v", method, path, err)
	}
	return answer{status: response.StatusCode, header: response.Header, body: read}
}

// example is what the loops over the table need to call an operation with success, beside the tenant: a body, and fresh
// objects for the parameters of the path that the tenant has none for. Body and path may hold `{name}`.
type example struct {
	body string
	// query goes behind the path of an operation that requires a parameter.
	query string
	// make makes objects as the tenant's admin and gives their ids by the names that path and body use.
	make func(h *harness, tenant *storetest.Tenant) map[string]string
	// needs is a right that the function asks for on these objects, beyond that of the scope.
	needs Rights
}

// examples has a row for every operation with a body or with objects of its own; each resource's tests add theirs. A test
// fails when a row is missing.
var examples = map[string]example{}

func init() {
	for _, add := range []func(){
		accessExamples,
		changeRequestExamples,
		commentsExamples,
		consentExamples,
		contentExamples,
		conversationsExamples,
		customizationExamples,
		gitExamples,
		glossaryExamples,
		plainExamples,
		integrationsExamples,
		invitesExamples,
		specExamples,
		removalExamples,
		reviewsExamples,
		samlExamples,
		sitesExamples,
		translationsExamples,
	} {
		add()
	}
}

func plainExamples() {
	for id, body := range map[string]string{
		"createOrganization":    `{"title":"Fresh"}`,
		"createSite":            `{}`,
		"trackEventsInSiteById": `{"events":[]}`,
		"aggregateSiteEvents":   `{"range":"last7Days"}`,
	} {
		examples[id] = example{body: body}
	}
}

// example gives the path and the body of a call on a tenant's objects. A tenant without tokens is made up: its objects exist
// nowhere, and every parameter gets the id of its space.
func (h *harness) example(op *Operation, tenant *storetest.Tenant) (path string, body any) {
	h.t.Helper()
	ex := examples[op.ID]
	values := map[string]string{
		"organizationId": tenant.Organization.ID, "siteId": tenant.Site.ID, "spaceId": tenant.Space.ID,
	}
	if tenant.Tokens == nil {
		for _, name := range pathParam.FindAllStringSubmatch(op.Path, -1) {
			if values[name[1]] == "" {
				values[name[1]] = tenant.Space.ID
			}
		}
	} else if ex.make != nil {
		maps.Copy(values, ex.make(h, tenant))
	}
	var pairs []string
	for name, value := range values {
		pairs = append(pairs, "{"+name+"}", value)
	}
	fill := strings.NewReplacer(pairs...)
	path = "/v1" + fill.Replace(op.Path+ex.query)
	if tenant.Tokens != nil && pathParam.MatchString(path) {
		h.t.Fatalf("examples makes no object for the path of %s: %s", op.ID, path)
	}
	if op.BodyLimit == 0 {
		return path, nil
	}
	if ex.body == "" {
		h.t.Fatalf("examples has no body for %s", op.ID)
	}
	return path, fill.Replace(ex.body)
}

// try calls an operation by its example.
func (h *harness) try(op *Operation, tenant *storetest.Tenant, token string, header ...string) answer {
	h.t.Helper()
	path, body := h.example(op, tenant)
	return h.do(op.Method, path, token, body, header...)
}

// wantError checks the status and the one shape that errors have.
func (h *harness) wantError(a answer, status int) schema.ErrorObject {
	h.t.Helper()
	if a.status != status {
		h.t.Fatalf("status %d, want %d: %s", a.status, status, a.body)
	}
	if got := a.header.Get("Content-Type"); got != "application/json" {
		h.t.Errorf("Content-Type %q", got)
	}
	if a.header.Get("X-Request-Id") == "" {
		h.t.Error("no X-Request-Id")
	}
	var body schema.ErrorBody
	decoder := json.NewDecoder(bytes.NewReader(a.body))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&body); err != nil {
		h.t.Fatalf("error body %s: %v", a.body, err)
	}
	if body.Error.Code != status || body.Error.Message == "" {
		h.t.Errorf("error body %s", a.body)
	}
	if status == http.StatusUnauthorized && a.header.Get("WWW-Authenticate") != "Bearer" {
		h.t.Errorf("WWW-Authenticate %q", a.header.Get("WWW-Authenticate"))
	}
	return body.Error
}

// fakeIntake remembers what it was given, as copies; run can do more.
type fakeIntake struct {
	mu     sync.Mutex
	bodies []string
	sites  []schema.EventSite
	from   []schema.ClientInfo
	run    func(body []byte) error
}

func (f *fakeIntake) Accept(_ context.Context, site schema.EventSite, body []byte, from schema.ClientInfo) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.bodies, f.sites, f.from = append(f.bodies, string(body)), append(f.sites, site), append(f.from, from)
	if f.run != nil {
		return f.run(body)
	}
	return nil
}

type fakeInsights struct{}

func (*fakeInsights) Aggregate(ctx context.Context, from schema.QueryOrigin, body []byte) ([]byte, map[string]string, error) {
	if deadline, ok := ctx.Deadline(); ok {
		return nil, nil, fmt.Errorf("the operation's deadline %v pre-empts the question's own", deadline)
	}

	if !bytes.Contains(body, []byte("range")) {
		return nil, nil, schema.Invalid("range", "is required")
	}
	return []byte(`{"columns":[]}`), map[string]string{"X-Octavo-Site": from.SiteID, "X-Octavo-Asker": from.OrganizationID + " " + from.TokenID + " " + from.RequestID}, nil
}

func (*fakeInsights) VisitorSegments(context.Context, schema.QueryOrigin, schema.PageRequest) ([]byte, map[string]string, error) {
	return []byte(`{"items":[],"count":0}`), nil, nil
}

// connect gives a connection to the database until the test ends.
func (h *harness) connect() *pgx.Conn {
	h.t.Helper()
	conn, err := pgx.Connect(h.t.Context(), h.url)
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(h.t.Context())) })
	return conn
}

// exec runs a statement on the harness's database, past the store.
func (h *harness) exec(sql string, args ...any) {
	h.t.Helper()
	conn, err := pgx.Connect(h.t.Context(), h.url)
	if err != nil {
		h.t.Fatal(err)
	}
	defer func() { _ = conn.Close(h.t.Context()) }()
	if _, err := conn.Exec(h.t.Context(), sql, args...); err != nil {
		h.t.Fatal(err)
	}
}

// rows counts what is stored.
func (h *harness) rows() map[string]int {
	h.t.Helper()
	conn, err := pgx.Connect(h.t.Context(), h.url)
	if err != nil {
		h.t.Fatal(err)
	}
	defer func() { _ = conn.Close(h.t.Context()) }()
	names, err := conn.Query(h.t.Context(), "select tablename::text from pg_tables where schemaname = 'public'")
	if err != nil {
		h.t.Fatal(err)
	}
	tables, err := pgx.CollectRows(names, pgx.RowTo[string])
	if err != nil {
		h.t.Fatal(err)
	}
	counts := map[string]int{}
	for _, table := range tables {
		var n int
		if err := conn.QueryRow(h.t.Context(), "select count(*) from "+table).Scan(&n); err != nil {
			h.t.Fatal(err)
		}
		counts[table] = n
	}
	return counts
}

// ids lists a path to its end, three at a time, and checks the count.
func (h *harness) ids(path, token string) []string {
	h.t.Helper()
	ids := []string{}
	join := "?"
	if strings.Contains(path, "?") {
		join = "&"
	}
	for page := ""; ; {
		var got idPage
		a := h.do("GET", path+join+"limit=3&page="+page, token, nil)
		if err := json.Unmarshal(a.body, &got); err != nil || a.status != http.StatusOK {
			h.t.Fatalf("%s: %d %s", path, a.status, a.body)
		}
		for _, item := range got.Items {
			ids = append(ids, item.ID)
		}
		if got.Next == nil {
			if int(got.Count) != len(ids) {
				h.t.Errorf("%s: count %d of %d", path, got.Count, len(ids))
			}
			return ids
		}
		page = got.Next.Page
	}
}
