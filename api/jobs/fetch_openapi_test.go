package jobs

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/octavo-docs/octavo/api/remote/openapi"
	"github.com/octavo-docs/octavo/api/remote/outbound"
	"github.com/octavo-docs/octavo/api/remote/outbound/outboundtest"
	"github.com/octavo-docs/octavo/cmd/engine/enginetest/eventually"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/apispecs"
	"github.com/octavo-docs/octavo/store/queue"
	"github.com/octavo-docs/octavo/store/storetest"
)

// specServer serves an OpenAPI document whose version the test sets. If `status` is not 0, it answers with this status.
type specServer struct {
	*httptest.Server
	mu       sync.Mutex
	version  int
	status   int
	requests int
	cached   int
}

func newSpecServer(t *testing.T) *specServer {
	s := &specServer{version: 1}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.requests++
		etag := fmt.Sprintf(`"%d"`, s.version)
		switch {
		case s.status != 0:
			w.WriteHeader(s.status)
			return
		case r.Header.Get("If-None-Match") == etag:
			s.cached++
			w.WriteHeader(http.StatusNotModified)
			return
		}
		w.Header().Set("ETag", etag)
		_, _ = fmt.Fprintf(w, "openapi: 3.0.0\ninfo: {title: A, version: '%d'}\npaths: {}\n", s.version)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *specServer) set(version, status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version, s.status = version, status
}

func (s *specServer) counts() (requests, cached int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests, s.cached
}

// specBench is a bench with an organization for the specifications.
type specBench struct {
	*bench
	org string
}

func newSpecBench(t *testing.T) *specBench {
	b := newBench(t)
	return &specBench{b, storetest.NewTenant(t, b.st, "ours").Organization.ID}
}

// withSpecs makes a runner fetch specifications, and fetch each of them again after `interval`.
func withSpecs(specs Specs, interval time.Duration) func(*Config) {
	return func(c *Config) {
		c.Kinds, c.Deps.Specs, c.Deps.SpecsInterval = []Kind{kind(fetchOpenAPI)}, specs, interval
	}
}

func (b *specBench) set(slug, url string) apispecs.Spec {
	b.t.Helper()
	spec, _, err := b.st.Specs.Set(b.t.Context(), b.org, slug, apispecs.Source{URL: &url})
	if err != nil || spec.ProcessingState != schema.SpecPending {
		b.t.Fatalf("%+v %v", spec, err)
	}
	return spec
}

// until waits until a specification is in the state that `is` tests for.
func (b *specBench) until(slug, what string, is func(apispecs.Spec) bool) apispecs.Spec {
	b.t.Helper()
	var spec apispecs.Spec
	eventually.True(b.t, slug+" is "+what, func() bool {
		var err error
		if spec, err = b.st.Specs.Spec(b.t.Context(), b.org, slug); err != nil {
			b.t.Fatal(err)
		}
		return is(spec)
	})
	return spec
}

// heard counts changes of specifications: the changes about which front ends have not been notified yet.
func (b *specBench) heard() (n int) {
	b.t.Helper()
	if err := b.conn.QueryRow(b.t.Context(), "select count(*) from front_end_changes where tag like '%:openapi:%'").Scan(&n); err != nil {
		b.t.Fatal(err)
	}
	return n
}

// logged counts the audit log's entries about specifications.
func (b *specBench) logged() (n int) {
	b.t.Helper()
	if err := b.conn.QueryRow(b.t.Context(), "select count(*) from audit_log where object_type = 'openapi-spec'").Scan(&n); err != nil {
		b.t.Fatal(err)
	}
	return n
}

// ours returns the jobs of the organization.
func (b *specBench) ours() []schema.Job {
	b.t.Helper()
	page, err := b.st.Queue.List(b.t.Context(), b.org, queue.Filter{}, "", 100)
	if err != nil {
		b.t.Fatal(err)
	}
	return page.Rows
}

func complete(s apispecs.Spec) bool {
	return s.ProcessingState == schema.SpecComplete && s.LastProcessedAt != nil
}

// poll makes a specification due and waits until it is fetched again.
func (b *specBench) poll(slug string) apispecs.Spec {
	b.t.Helper()
	var before time.Time
	row := b.conn.QueryRow(b.t.Context(), "update openapi_specs set fetch_at = now() - interval '1 second' where slug = $1 returning last_processed_at", slug)
	if err := row.Scan(&before); err != nil {
		b.t.Fatal(err)
	}
	return b.until(
		slug, "fetched again", func(s apispecs.Spec) bool { return complete(s) && s.LastProcessedAt.After(before) },
	)
}

func errorsOf(t testing.TB, s apispecs.Spec) []schema.OpenAPISpecError {
	t.Helper()
	errors, err := schema.DecodeJSON[[]schema.OpenAPISpecError](s.Errors)
	if err != nil {
		t.Fatal(err)
	}
	return errors
}

// TestSpecsAreFetched: a specification is fetched when it is set and when it is due. If its document has changed, it
// gets a new version, front ends are notified, and the audit log has an entry. If the document cannot be read, the last
// version stays.
func TestSpecsAreFetched(t *testing.T) {
	t.Parallel()
	b, server := newSpecBench(t), newSpecServer(t)
	b.set("pets", server.URL+"/openapi.yaml")
	told := b.heard() // The count includes the change of the source.
	b.run(nil, withSpecs(openapi.NewFetcher(outboundtest.Guard(t, outboundtest.Loopback), openapi.DefaultLimits), time.Hour))
	first := b.until("pets", "fetched", complete)
	if first.Versions != 1 || first.ErrorCode != "" || len(errorsOf(t, first)) != 0 || b.heard() != told+1 {
		t.Fatalf("%+v, %d changes", first, b.heard())
	}
	if until := time.Until(*first.FetchAt); until < 50*time.Minute || until > 67*time.Minute {
		t.Errorf("it is fetched again in %s", until)
	}
	version, err := b.st.Specs.Version(t.Context(), b.org, "pets", nil)
	if err != nil || schema.Or(version.SourceUrl, "") != server.URL+"/openapi.yaml" {
		t.Errorf("%+v %v", version, err)
	}
	logged := b.logged()
	same := b.poll("pets")
	if _, cached := server.counts(); cached != 1 || same.Versions != 1 || b.heard() != told+1 || !same.UpdatedAt.Equal(first.UpdatedAt) {
		t.Errorf("%+v, %d times unchanged, %d changes", same, cached, b.heard())
	}
	if now := b.logged(); now != logged {
		t.Errorf("%d entries in the audit log for a specification that has not changed", now-logged)
	}
	server.set(2, 0)
	if changed := b.poll("pets"); changed.Versions != 2 || b.heard() != told+2 || !changed.UpdatedAt.After(first.UpdatedAt) {
		t.Errorf("%+v, %d changes", changed, b.heard())
	}
	if now := b.logged(); now != logged+1 {
		t.Errorf("%d entries in the audit log for a new version", now-logged)
	}
	server.set(3, http.StatusBadGateway)
	failed := b.poll("pets")
	if failed.ErrorCode != schema.SpecFetchError || failed.Versions != 2 || failed.LastVersion == nil || b.heard() != told+2 {
		t.Errorf("%+v", failed)
	}
	if errors := errorsOf(t, failed); len(errors) != 1 || errors[0] != (schema.OpenAPISpecError{Message: "127.0.0.1 answered 502", Code: schema.SpecFetchError}) {
		t.Errorf("%+v", errors)
	}
	// After a temporary failure the specification is fetched again soon. After each further failure the pause is
	// longer.
	if until := time.Until(*failed.FetchAt); until > 2*time.Minute {
		t.Errorf("it is fetched again in %s", until)
	}
	if again := b.poll("pets"); again.FetchFailures != 2 || time.Until(*again.FetchAt) < time.Until(*failed.FetchAt) {
		t.Errorf("%+v", again)
	}
	server.set(3, http.StatusNotFound)
	if gone := b.poll("pets"); time.Until(*gone.FetchAt) < 50*time.Minute || gone.FetchFailures != 3 {
		t.Errorf("%+v", gone)
	}
	server.set(3, 0)
	if healed := b.poll("pets"); healed.ErrorCode != "" || healed.Versions != 3 || healed.FetchFailures != 0 {
		t.Errorf("%+v", healed)
	}
	for _, job := range b.ours() {
		if job.State == schema.JobFailed || job.State == schema.JobRetrying {
			t.Errorf("%+v", job)
		}
	}
	// A specification whose source is a text is not fetched.
	if _, _, err := b.st.Specs.Set(t.Context(), b.org, "pets", apispecs.Source{
		Text: "x", Document: []byte("{}"),
	}); err != nil {
		t.Fatal(err)
	}
	requests, _ := server.counts()
	if err := b.st.Specs.AskForFetches(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.set("next", server.URL)
	b.until("next", "fetched", complete)
	if now, _ := server.counts(); now != requests+1 {
		t.Errorf("%d requests instead of %d", now, requests+1)
	}
}

// TestSpecsOfOthersAreRefused uses a source with a loopback address. The server at this address gets no request, and
// the error does not show the address.
func TestSpecsOfOthersAreRefused(t *testing.T) {
	t.Parallel()
	b, canary := newSpecBench(t), newSpecServer(t)
	b.set("inner", canary.URL)
	b.run(nil, withSpecs(openapi.NewFetcher(outbound.New(outbound.Config{}), openapi.DefaultLimits), time.Hour))
	spec := b.until("inner", "refused", complete)
	requests, _ := canary.counts()
	if errors := errorsOf(t, spec); requests != 0 || spec.ErrorCode != schema.SpecFetchError || len(errors) != 1 ||
		errors[0].Message != "127.0.0.1 is not on the public network" || spec.LastVersion != nil {
		t.Errorf("%+v %+v, %d requests", spec, errors, requests)
	}
}

// scripted is a fetcher whose result a function of the test returns.
type scripted func(ctx context.Context, address string) (openapi.Fetched, error)

func (f scripted) Fetch(ctx context.Context, address string, _ []schema.OpenAPISourceState) (openapi.Fetched, error) {
	return f(ctx, address)
}

func readAs(title string) openapi.Fetched {
	return openapi.Fetched{Document: []byte(`{"title":"` + title + `"}`), Sources: []schema.OpenAPISourceState{}}
}

// TestSpecFetchStopped stops a node while it fetches specifications. The next node fetches only the specifications that
// the first node did not complete.
func TestSpecFetchStopped(t *testing.T) {
	t.Parallel()
	b := newSpecBench(t)
	b.set("quick", "https://a.example/quick")
	b.set("slow", "https://a.example/slow")
	began := make(chan struct{})
	stop := b.run(nil, withSpecs(scripted(func(ctx context.Context, address string) (openapi.Fetched, error) {
		if strings.HasSuffix(address, "/quick") {
			return readAs("quick"), nil
		}
		close(began)
		<-ctx.Done()
		return openapi.Fetched{}, ctx.Err()
	}), time.Hour), func(c *Config) { c.Grace = time.Millisecond })
	<-began
	b.until("quick", "fetched", complete)
	stop()
	if slow := b.until(
		"slow", "begun", func(s apispecs.Spec) bool { return s.ProcessingState == schema.SpecProgress },
	); !slow.FetchWanted {
		t.Errorf("%+v", slow)
	}
	var mu sync.Mutex
	var read []string
	b.run(nil, withSpecs(scripted(func(_ context.Context, address string) (openapi.Fetched, error) {
		mu.Lock()
		defer mu.Unlock()
		read = append(read, address)
		return readAs("slow"), nil
	}), time.Hour))
	if slow := b.until("slow", "fetched", complete); slow.Versions != 1 {
		t.Errorf("%+v", slow)
	}
	mu.Lock()
	defer mu.Unlock()
	if len(read) != 1 || read[0] != "https://a.example/slow" {
		t.Errorf("%q", read)
	}
}

// TestSpecOvertaken changes the source of a specification while the old source is being fetched. The result of the old
// source is not stored.
func TestSpecOvertaken(t *testing.T) {
	t.Parallel()
	b := newSpecBench(t)
	b.set("a", "https://a.example/old")
	began, proceed := make(chan struct{}), make(chan struct{})
	b.run(nil, withSpecs(scripted(func(_ context.Context, address string) (openapi.Fetched, error) {
		if strings.HasSuffix(address, "/old") {
			close(began)
			<-proceed
			return readAs("old"), nil
		}
		return readAs("new"), nil
	}), time.Hour))
	<-began
	b.set("a", "https://a.example/new")
	close(proceed)
	spec := b.until("a", "fetched", complete)
	document, err := b.st.Specs.Document(t.Context(), *spec.LastVersion)
	if err != nil || spec.Versions != 1 || string(document) != `{"title":"new"}` {
		t.Errorf("%+v %s %v", spec, document, err)
	}
}

// TestSpecThatPanics: a specification that makes the fetch panic does not prevent the fetch of other specifications.
func TestSpecThatPanics(t *testing.T) {
	t.Parallel()
	b := newSpecBench(t)
	for i := range 10 {
		b.set(fmt.Sprintf("s%d", i), fmt.Sprintf("https://a.example/%d", i))
	}
	b.run(nil, withSpecs(scripted(func(_ context.Context, address string) (openapi.Fetched, error) {
		if strings.HasSuffix(address, "/0") {
			panic("a document that nobody expected")
		}
		return readAs(address), nil
	}), time.Hour))
	for i := range 10 {
		if i > 0 {
			b.until(fmt.Sprintf("s%d", i), "fetched", complete)
		}
	}
	eventually.True(t, "the job to fail", func() bool {
		all := b.ours()
		return len(all) > 0 && all[0].Attempt > 1 && all[0].Reason == internalReason
	})
}

// TestSpecsNobodyFetches runs the job on a node without a fetcher. The job fails, and its reason says that the node
// fetches no specifications.
func TestSpecsNobodyFetches(t *testing.T) {
	t.Parallel()
	b := newSpecBench(t)
	b.set("a", "https://a.example/")
	b.run(nil, withSpecs(nil, time.Hour))
	eventually.True(t, "the job to fail", func() bool { return b.ours()[0].State == schema.JobFailed })
	if job := b.ours()[0]; job.Reason != "the node that ran the job fetches no specifications" {
		t.Errorf("%+v", job)
	}
}
