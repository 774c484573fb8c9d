package apitest

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/octavo-docs/octavo/api"
	"github.com/octavo-docs/octavo/api/apitest/shape"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/api/jobs/jobstest"
	"github.com/octavo-docs/octavo/cmd/engine/enginetest/capture"
	"github.com/octavo-docs/octavo/cmd/engine/enginetest/eventually"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/orgs"
	"github.com/octavo-docs/octavo/store/sites"
	"github.com/octavo-docs/octavo/store/storetest"
)

// Want sends a request, checks the status and decodes the response body.
func (h *Harness) Want(status int, method, path, token string, body any) map[string]any {
	h.T.Helper()
	a := h.Do(method, path, token, body)
	if a.Status != status {
		h.T.Fatalf("%s %s %v: %d %s, want %d", method, path, body, a.Status, a.Body, status)
	}
	var value map[string]any
	if len(a.Body) > 0 {
		if err := json.Unmarshal(a.Body, &value); err != nil {
			h.T.Fatal(err)
		}
	}
	return value
}

// Harness is a running server with all of the API's operations. Its own database has two tenants.
type Harness struct {
	T      testing.TB
	URL    string
	Store  *store.Store
	Server *frame.Server
	// Table has the operations that the server serves.
	Table   []frame.Operation
	Base    string
	Ours    *storetest.Tenant
	Theirs  *storetest.Tenant
	Intake  *fakeIntake
	answers *fakeInsights
	Log     *capture.Buffer
	DNS     *txtRecords
	// DB runs SQL directly on the database. Its connections stay open: a new connection is slow, because it reads the
	// catalog of every table.
	DB     *pgxpool.Pool
	rows   func() (statement string, err error)
	unused trial
	client *http.Client
}

type option func(*frame.Config, *api.Deps)

func New(t testing.TB, options ...option) *Harness {
	t.Helper()
	url, ours, theirs := storetest.Tenants(t)
	shape.Since(ours.Organization.CreatedAt)
	pool, err := pgxpool.New(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	h := &Harness{
		T: t, URL: url, Store: storetest.Open(t, url), DB: pool, Ours: ours, Theirs: theirs,
		rows:   sync.OnceValues(func() (string, error) { return readTables(t.Context(), pool) }),
		Intake: &fakeIntake{}, answers: &fakeInsights{}, Log: &capture.Buffer{}, DNS: &txtRecords{},
		client: newClient(),
	}
	h.Serve(nil, options...)
	return h
}

// In returns a copy of the harness that reports failures on `t`, the subtest.
func (h *Harness) In(t testing.TB) *Harness {
	inner := *h
	inner.T = t
	return &inner
}

// Serve starts a server on the harness's store. Its table also has the extra rows.
func (h *Harness) Serve(extra []frame.Operation, options ...option) {
	h.T.Helper()
	// On a busy machine a request can exceed the product's time limits. So the harness sets very long limits. A test of
	// a time limit sets its own.
	cfg := frame.Config{
		Listen: "127.0.0.1:0", BaseURL: "https://docs.example.com/base",
		HeaderTimeout: eventually.Patience, ReadTimeout: eventually.Patience, BodyStall: eventually.Patience,
		WriteStall: eventually.Patience, OperationTimeout: eventually.Patience,
	}
	deps := api.Deps{
		Store: h.Store, Intake: h.Intake, Insights: h.answers, Balances: balancesOf{}, Erasures: erasuresOf{}, Metrics: TestMetrics(h.T), Resolver: h.DNS,
		Log: slog.New(slog.NewJSONHandler(h.Log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
	for _, o := range options {
		o(&cfg, &deps)
	}
	server, err := api.NewWith(cfg, deps, frame.Table{Operations: extra})
	if err != nil {
		h.T.Fatal(err)
	}
	h.Server, h.Table = server, append(api.Table().Operations, extra...)
	if err := h.Server.Start(h.T.Context()); err != nil {
		h.T.Fatal(err)
	}
	h.Base = "http://" + server.Addr().String()
	h.T.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), eventually.Patience)
		defer cancel()
		h.client.CloseIdleConnections()
		if err := server.Stop(ctx); err != nil {
			h.T.Errorf("stop: %v", err)
		}
	})
}

func TestMetrics(t testing.TB) *frame.PrometheusMetrics {
	t.Helper()
	m, err := frame.NewPrometheusMetrics(prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// newClient creates a client that returns redirects and does not follow them. Each client has its own transport. With a
// shared transport, a harness that closes idle connections could break a request of another harness.
func newClient() *http.Client {
	return &http.Client{
		Timeout: eventually.Patience, Transport: &http.Transport{},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// Form is the encoded body of a form that a browser posts, with the browser's cookies.
type Form struct{ Body, Cookie string }

// Do sends a request. The body may be a string, a []byte, a Form, or a value that is encoded as JSON.
func (h *Harness) Do(method, path, token string, body any, header ...string) Answer {
	h.T.Helper()
	return h.DoBase(h.Base, method, path, token, body, header...)
}

func (h *Harness) DoBase(base, method, path, token string, body any, header ...string) Answer {
	h.T.Helper()
	var reader io.Reader
	contentType := "application/json"
	switch b := body.(type) {
	case Form:
		reader, contentType = strings.NewReader(b.Body), frame.MediaForm[0]
		if b.Cookie != "" {
			header = append([]string{"Cookie", b.Cookie}, header...)
		}
	case nil:
	case string:
		reader = strings.NewReader(b)
	case []byte:
		reader = bytes.NewReader(b)
	default:
		encoded, err := json.Marshal(b)
		if err != nil {
			h.T.Fatal(err)
		}
		reader = bytes.NewReader(encoded)
	}
	req, err := http.NewRequestWithContext(h.T.Context(), method, base+path, reader)
	if err != nil {
		h.T.Fatal(err)
	}
	if body != nil {
		req.Header.Set("Content-Type", contentType)
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
		if header[i] == "Host" {
			req.Host = header[i+1] // net/http ignores a Host header, so set req.Host.
		}
	}
	response, err := h.client.Do(req)
	if err != nil {
		h.T.Fatalf("%s %s: %v", method, path, err)
	}
	defer func() { _ = response.Body.Close() }()
	read, err := io.ReadAll(response.Body)
	if err != nil {
		h.T.Fatalf("%s %s: %v", method, path, err)
	}
	others := shape.OtherMoments(read)
	if len(others) > 0 && response.Header.Get("Content-Type") == "application/json" {
		h.T.Errorf("%s %s answers moments of another form than 2006-01-02T15:04:05.000Z: %q", method, path, others)
	}
	return Answer{Status: response.StatusCode, Header: response.Header, Body: read}
}

// Example returns the path and body of a call on a tenant's objects. If the tenant has no tokens, it is a tenant of
// [Ghost], and no objects are created. Its random space id then fills every parameter that is not an organization or a
// site.
func (h *Harness) Example(op *frame.Operation, tenant *storetest.Tenant) (path string, body any) {
	h.T.Helper()
	ex := Examples[op.ID]
	values := map[string]string{
		"organizationId": tenant.Organization.ID, "siteId": tenant.Site.ID, "spaceId": tenant.Space.ID,
	}
	if tenant.Tokens == nil {
		for _, name := range frame.PathParam.FindAllStringSubmatch(op.Path, -1) {
			if values[name[1]] == "" {
				values[name[1]] = tenant.Space.ID
			}
		}
	} else if ex.Make != nil {
		maps.Copy(values, ex.Make(h, tenant))
	}
	var pairs []string
	for name, value := range values {
		pairs = append(pairs, "{"+name+"}", value)
	}
	fill := strings.NewReplacer(pairs...)
	path = fill.Replace(op.Route() + ex.query)
	if tenant.Tokens != nil && frame.PathParam.MatchString(path) {
		h.T.Fatalf("examples makes no object for the path of %s: %s", op.ID, path)
	}
	if op.BodyLimit == 0 {
		return path, nil
	}
	if ex.body == "" {
		h.T.Fatalf("examples has no body for %s", op.ID)
	}
	if slices.Contains(op.Accepts, frame.MediaForm[0]) {
		return path, Form{Body: fill.Replace(ex.body), Cookie: fill.Replace(ex.cookie)}
	}
	return path, fill.Replace(ex.body)
}

// Try calls an operation with its example. A call that only reads or that is refused leaves the example unused: the
// next call of the same operation uses it again.
func (h *Harness) Try(op *frame.Operation, tenant *storetest.Tenant, token string, header ...string) Answer {
	h.T.Helper()
	if h.unused.op != op || h.unused.tenant != tenant {
		path, body := h.Example(op, tenant)
		h.unused = trial{op, tenant, path, body}
	}
	a := h.Do(op.Method, h.unused.path, token, h.unused.body, header...)
	if op.Method != http.MethodGet && a.Status < http.StatusBadRequest {
		h.unused = trial{}
	}
	return a
}

// trial is an example call of an operation on a tenant's objects. No test has used up its objects yet.
type trial struct {
	op     *frame.Operation
	tenant *storetest.Tenant
	path   string
	body   any
}

// WantError checks the status of a response and the parts that all errors have.
func (h *Harness) WantError(a Answer, status int) schema.ErrorObject {
	h.T.Helper()
	if a.Status != status {
		h.T.Fatalf("status %d, want %d: %s", a.Status, status, a.Body)
	}
	if got := a.Header.Get("Content-Type"); got != "application/json" {
		h.T.Errorf("Content-Type %q", got)
	}
	if a.Header.Get("X-Request-Id") == "" {
		h.T.Error("no X-Request-Id")
	}
	var body schema.ErrorBody
	if err := json.Unmarshal(a.Body, &body, json.RejectUnknownMembers(true)); err != nil {
		h.T.Fatalf("error body %s: %v", a.Body, err)
	}
	if body.Error.Code != status || body.Error.Message == "" {
		h.T.Errorf("error body %s", a.Body)
	}
	if status == http.StatusUnauthorized && a.Header.Get("WWW-Authenticate") != "Bearer" {
		h.T.Errorf("WWW-Authenticate %q", a.Header.Get("WWW-Authenticate"))
	}
	return body.Error
}

// Exec runs an SQL statement directly on the harness's database.
func (h *Harness) Exec(sql string, args ...any) {
	h.T.Helper()
	if _, err := h.DB.Exec(h.T.Context(), sql, args...); err != nil {
		h.T.Fatal(err)
	}
}

// Rows describes the contents of a table by the number of its rows and a hash of them. The hash does not depend on the
// order of the rows.
type Rows struct {
	Count int
	Hash  string
}

// Rows reads the contents of every table in one statement. It leaves out the audit log, which only grows. The hashes
// leave out the last_used_at columns, which the server writes in the background.
func (h *Harness) Rows() map[string]Rows {
	h.T.Helper()
	statement, err := h.rows()
	if err != nil {
		h.T.Fatal(err)
	}
	rows, err := h.DB.Query(h.T.Context(), statement)
	if err != nil {
		h.T.Fatal(err)
	}
	tables, table, contents := map[string]Rows{}, "", Rows{}
	read := func() error { tables[table] = contents; return nil }
	if _, err := pgx.ForEachRow(rows, []any{&table, &contents.Count, &contents.Hash}, read); err != nil {
		h.T.Fatal(err)
	}
	return tables
}

// readTables returns the statement that Rows runs. Each connection plans it once, because the plan takes as long as ten
// runs. Tables with a last_used_at column are read as JSON. The others are read as text, which is ten times faster.
func readTables(ctx context.Context, db *pgxpool.Pool) (statement string, err error) {
	err = db.QueryRow(ctx, `select string_agg(format(
			'select %L, count(*)::int, coalesce(sum(hashtextextended(%s, 0)), 0)::text from public.%I t', tablename,
			case when exists (select from pg_attribute
				where attrelid = format('public.%I', tablename)::regclass and attname = 'last_used_at')
			then '(to_jsonb(t) - ''last_used_at'')::text' else 't::text' end, tablename), ' union all ')
		from pg_tables where schemaname = 'public' and tablename <> 'audit_log'`).Scan(&statement)
	return statement, err
}

// IDs reads all pages of a list, with three items per page. It checks that the last page's count is the number of
// items.
func (h *Harness) IDs(path, token string) []string {
	h.T.Helper()
	ids := []string{}
	join := "?"
	if strings.Contains(path, "?") {
		join = "&"
	}
	for page := ""; ; {
		var got IdPage
		a := h.Do("GET", path+join+"limit=3&page="+page, token, nil)
		if err := json.Unmarshal(a.Body, &got); err != nil || a.Status != http.StatusOK {
			h.T.Fatalf("%s: %d %s", path, a.Status, a.Body)
		}
		for _, item := range got.Items {
			ids = append(ids, item.ID)
		}
		if got.Next == nil {
			if int(got.Count) != len(ids) {
				h.T.Errorf("%s: count %d of %d", path, got.Count, len(ids))
			}
			return ids
		}
		page = got.Next.Page
	}
}

// Ghost returns a tenant with random ids. It is not in the database.
func Ghost() *storetest.Tenant {
	return &storetest.Tenant{
		Organization: orgs.Organization{ID: schema.NewID()}, Site: sites.Site{ID: schema.NewID()},
		Space: store.Space{ID: schema.NewID()},
	}
}

// EachOperation runs `check` as a subtest for every row of the table of operations. The id of the operation is the name
// of the subtest, so the output shows all operations that fail. The subtests run one after the other, because they
// share the harness's database. `all` is false if the -run flag skipped operations. The test must then not assume that
// `check` has seen all operations.
func EachOperation(t *testing.T, h *Harness, check func(t *testing.T, h *Harness, op *frame.Operation)) (all bool) {
	t.Helper()
	ran := 0
	for i := range h.Table {
		op := &h.Table[i]
		t.Run(op.ID, func(t *testing.T) {
			ran++
			check(t, h.In(t), op)
		})
	}
	return ran == len(h.Table)
}

// RunJobs runs background jobs until the queue is empty.
func (h *Harness) RunJobs() {
	h.T.Helper()
	jobstest.Drain(h.T, h.Store)
}
