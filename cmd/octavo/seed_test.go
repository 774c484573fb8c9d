package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/octavo-docs/octavo/ingest/eventgen"
)

// seedServer is a server that checks every request against the contract.
type seedServer struct {
	*httptest.Server
	t *testing.T
	// refuse may answer a post of events instead of the server. It is nil if the test refuses nothing. It returns true
	// if it has answered.
	refuse func(w http.ResponseWriter, attempt int) bool

	mu       sync.Mutex
	created  []string
	spaces   []string                       // spaces of the created site
	written  map[string]map[string][]string // pages of spaces, by topic
	attempts int
	keys     map[string]int    // posts by idempotency key
	bodies   map[string]string // body by idempotency key
	events   int
	types    map[string]bool
}

func newSeedServer(t *testing.T) *seedServer {
	s := &seedServer{
		t: t, keys: map[string]int{}, bodies: map[string]string{}, types: map[string]bool{},
		written: map[string]map[string][]string{},
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/user", func(w http.ResponseWriter, _ *http.Request) { say(w, `{"object":"user","id":"u1"}`) })
	mux.HandleFunc("POST /v1/orgs", s.create("org1"))
	mux.HandleFunc("POST /v1/orgs/org1/spaces", s.create(""))
	mux.HandleFunc("POST /v1/orgs/org1/sites", s.create("site1"))
	mux.HandleFunc("POST /v1/orgs/org1/sites/site1/insights/events", s.take)
	const request = "/v1/spaces/{space}/change-requests"
	mux.HandleFunc("POST "+request, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusCreated)
		say(w, `{"id":"request"}`)
	})
	mux.HandleFunc("POST "+request+"/request/content", s.write)
	mux.HandleFunc("POST "+request+"/request/merge", func(w http.ResponseWriter, _ *http.Request) { say(w, `{}`) })
	mux.HandleFunc("GET /v1/spaces/{space}/content/pages", s.pages)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		t.Errorf("request outside of the contract: %s %s", r.Method, r.URL)
		http.NotFound(w, r)
	})
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer oct_test" {
			w.WriteHeader(http.StatusUnauthorized)
			say(w, `{"error":{"code":401,"message":"The token is not known."}}`)
			return
		}
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *seedServer) create(id string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var body struct {
			Title  string
			Spaces []string
		}
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil || len(body.Title) < 2 || r.Header.Get("Content-Type") != "application/json" {
			s.t.Errorf("%s with a bad body: %+v, %v", r.URL, body, err)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		made := id
		if made == "" {
			made = fmt.Sprintf("space%d", len(s.created))
		}
		s.created = append(s.created, made)
		if body.Spaces != nil {
			s.spaces = body.Spaces
		}
		w.WriteHeader(http.StatusCreated)
		say(w, `{"id":%q}`, made)
	}
}

// write stores the pages of topics: each group, and then the pages of the group.
func (s *seedServer) write(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Changes []struct {
			Operation, Type, Title, Slug, Ref, Into string
			Document                                struct{ Markdown string }
		}
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil || len(body.Changes) < 2 || len(body.Changes) > 50 {
		s.t.Errorf("%s with a bad body: %+v, %v", r.URL, body, err)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	topics := s.written[r.PathValue("space")]
	if topics == nil {
		topics = map[string][]string{}
		s.written[r.PathValue("space")] = topics
	}
	slugs := map[string]string{} // slugs of the request's groups, by their refs
	for _, change := range body.Changes {
		group := change.Type == "group"
		if group {
			slugs[change.Ref] = change.Slug
		}
		topic := slugs[change.Into]
		if change.Operation != "insert_page" || change.Title == "" || change.Slug == "" ||
			!group && (topic == "" || change.Document.Markdown == "") {
			s.t.Errorf("bad change %+v", change)
		}
		if !group {
			topics[topic] = append(topics[topic], change.Slug)
		}
	}
	say(w, `{}`)
}

// pages lists the pages of a space. The id of a page is its space with its path.
func (s *seedServer) pages(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var tree []string
	for topic, pages := range s.written[r.PathValue("space")] {
		var in []string
		for _, page := range pages {
			path := topic + "/" + page
			in = append(in, fmt.Sprintf(`{"id":%q,"path":%q}`, r.PathValue("space")+"/"+path, path))
		}
		tree = append(tree, fmt.Sprintf(`{"id":%[1]q,"path":%[1]q,"pages":[%[2]s]}`, topic, strings.Join(in, ",")))
	}
	say(w, `{"pages":[%s]}`, strings.Join(tree, ","))
}

func (s *seedServer) take(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		s.t.Error(err)
	}
	var body struct {
		Events []struct {
			Type      string
			Session   struct{ VisitorID, SessionID string }
			Location  struct{ URL, Space, Page string }
			Timestamp time.Time
		}
	}
	if err := json.Unmarshal(raw, &body); err != nil || len(body.Events) == 0 {
		s.t.Errorf("bad body: %v, %.200s", err, raw)
	}
	for _, e := range body.Events {
		if e.Type == "" || e.Session.VisitorID == "" || e.Session.SessionID == "" || e.Location.URL == "" || e.Timestamp.After(time.Now().Add(time.Minute)) {
			s.t.Errorf("bad event %+v", e)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range body.Events {
		topic, page, _ := strings.Cut(strings.TrimPrefix(e.Location.Page, e.Location.Space+"/"), "/")
		if s.spaces != nil && !slices.Contains(s.written[e.Location.Space][topic], page) {
			s.t.Errorf("an event of a page that its space lacks: %+v", e.Location)
		}
	}
	s.attempts++
	key := r.Header.Get("Idempotency-Key")
	if before, ok := s.bodies[key]; key == "" || ok && before != string(raw) {
		s.t.Errorf("idempotency key %q is empty or stands for two bodies", key)
	}
	s.bodies[key] = string(raw)
	if s.refuse != nil && s.refuse(w, s.attempts) {
		return
	}
	s.keys[key]++
	s.events += len(body.Events)
	for _, e := range body.Events {
		s.types[e.Type] = true
	}
	w.WriteHeader(http.StatusNoContent)
}

func (s *seedServer) command() *SeedCmd {
	return &SeedCmd{URL: s.URL + "/", Token: "oct_test", Events: 2050, Days: 3, Visitors: 200, Batch: 100, Concurrency: 3, Seed: 1}
}

// runSeed runs a command with its output in a buffer.
func runSeed(ctx context.Context, c *SeedCmd) (string, error) {
	var out bytes.Buffer
	err := c.Validate()
	if err == nil {
		err = c.run(ctx, &out, &seedLines{to: io.Discard, all: c.Events, every: time.Hour})
	}
	return out.String(), err
}

func TestSeedCreatesAndSends(t *testing.T) {
	s := newSeedServer(t)
	out, err := runSeed(t.Context(), s.command())
	if err != nil {
		t.Fatal(err)
	}
	if s.events != 2050 || len(s.keys) != 21 {
		t.Errorf("%d events in %d requests arrived, want 2050 in 21", s.events, len(s.keys))
	}
	if want := len(eventgen.SpaceTitles()); len(s.created) != want+2 || len(s.spaces) != want {
		t.Errorf("created %v with a site of the spaces %v, want an organization, %d spaces and a site", s.created, s.spaces, want)
	}
	if len(s.types) < 8 {
		t.Errorf("only the types %v", s.types)
	}
	if strings.Contains(out, "oct_test") {
		t.Error("the output shows the token")
	}
	for _, want := range []string{"Sent 2050 of 2050 events", "curl ", s.URL + "/v1/orgs/org1/sites/site1/insights/events/aggregate"} {
		if !strings.Contains(out, want) {
			t.Errorf("the output lacks %q:\n%s", want, out)
		}
	}
}

// TestSeedExampleIsJSON checks that the printed command has a valid JSON body.
func TestSeedExampleIsJSON(t *testing.T) {
	example := (&SeedCmd{URL: "http://x"}).example(seedTarget{org: "o", site: "s"})
	_, body, _ := strings.Cut(example, "-d '")
	body, _, _ = strings.Cut(body, "'")
	if !json.Valid([]byte(body)) {
		t.Errorf("the body is not JSON: %s", body)
	}
}

func TestSeedUsesGivenSite(t *testing.T) {
	s := newSeedServer(t)
	c := s.command()
	c.Org, c.Site = "org1", "site1"
	if _, err := runSeed(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if len(s.created) != 0 || s.events != c.Events {
		t.Errorf("created %v and sent %d events; want nothing created and %d events", s.created, s.events, c.Events)
	}
}

func TestSeedCreatesSiteInGivenOrganization(t *testing.T) {
	s := newSeedServer(t)
	c := s.command()
	c.Org = "org1"
	if _, err := runSeed(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if last := s.created[len(s.created)-1]; s.created[0] == "org1" || last != "site1" {
		t.Errorf("created %v, want spaces and a site", s.created)
	}
}

func TestSeedHonoursRetryAfter(t *testing.T) {
	s := newSeedServer(t)
	s.refuse = func(w http.ResponseWriter, attempt int) bool {
		switch attempt {
		case 1:
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(http.StatusServiceUnavailable)
		case 2:
			w.Header().Set("Retry-After", "3")
			w.WriteHeader(http.StatusTooManyRequests)
		case 3:
			// The answer is lost, so the outcome is unknown. net/http itself
			// repeats a request that has an idempotency key.
			panic(http.ErrAbortHandler)
		case 4: // the retry finds the previous attempt still running
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusConflict)
		default:
			return false
		}
		return true
	}
	client, release := newSeedClient(t.Context(), s.URL, "oct_test", 1)
	defer release()
	var waits []time.Duration
	client.pause = func(_ context.Context, d time.Duration) error { waits = append(waits, d); return nil }
	if err := client.post(t.Context(), "/v1/orgs/org1/sites/site1/insights/events", 0, eventgen.New(eventgen.Options{}).AppendBatch(nil, 2)); err != nil {
		t.Fatal(err)
	}
	if len(waits) < 2 || waits[0] != 7*time.Second || waits[1] != 3*time.Second || waits[len(waits)-1] != time.Second || s.attempts != 5 {
		t.Errorf("waited %v in %d attempts, want 7 s, 3 s, 1 s and five attempts", waits, s.attempts)
	}
	if len(s.keys) != 1 || s.events != 2 {
		t.Errorf("stored %d events under the keys %v, want 2 under one", s.events, s.keys)
	}
}

func TestSeedGivesUp(t *testing.T) {
	s := newSeedServer(t)
	s.refuse = func(w http.ResponseWriter, _ int) bool {
		w.WriteHeader(http.StatusServiceUnavailable)
		say(w, `{"error":{"code":503,"message":"The event log did not take the events in time."}}`)
		return true
	}
	client, release := newSeedClient(t.Context(), s.URL, "oct_test", 1)
	defer release()
	client.pause = func(context.Context, time.Duration) error { return nil }
	err := client.post(t.Context(), "/v1/orgs/org1/sites/site1/insights/events", 0, eventgen.New(eventgen.Options{}).AppendBatch(nil, 1))
	if err == nil || s.attempts != seedAttempts || !strings.Contains(err.Error(), "did not take the events in time") {
		t.Errorf("after %d attempts: %v", s.attempts, err)
	}
}

func TestSeedReportsRefusal(t *testing.T) {
	s := newSeedServer(t)
	s.refuse = func(w http.ResponseWriter, attempt int) bool {
		if attempt < 3 {
			return false
		}
		w.WriteHeader(http.StatusBadRequest)
		say(w, `{"error":{"code":400,"message":"events[4].type is not known"}}`)
		return true
	}
	c := s.command()
	c.Concurrency = 1
	out, err := runSeed(t.Context(), c)
	if err == nil || !strings.Contains(err.Error(), "events[4].type is not known") || !strings.Contains(err.Error(), "200 of 2050") {
		t.Errorf("error %v, want the server's message and the number of events sent", err)
	}
	if !strings.Contains(out, "Sent 200 of 2050") || s.attempts != 3 {
		t.Errorf("%d attempts and the output %q; a refusal must not be retried", s.attempts, out)
	}
}

func TestSeedBadToken(t *testing.T) {
	s := newSeedServer(t)
	c := s.command()
	c.Token = "oct_other"
	if _, err := runSeed(t.Context(), c); err == nil || !strings.Contains(err.Error(), "The token is not known.") {
		t.Errorf("error %v", err)
	}
	if len(s.created) != 0 {
		t.Errorf("created %v with a bad token", s.created)
	}
}

func TestSeedServerAway(t *testing.T) {
	s := newSeedServer(t)
	c := s.command()
	s.Close()
	if _, err := runSeed(t.Context(), c); err == nil || !strings.Contains(err.Error(), "is the server running at") {
		t.Errorf("error %v", err)
	}
}

func TestSeedStopsWhenInterrupted(t *testing.T) {
	s := newSeedServer(t)
	ctx, cancel := context.WithCancel(t.Context())
	s.refuse = func(_ http.ResponseWriter, attempt int) bool {
		if attempt == 4 {
			cancel()
		}
		return false
	}
	out, err := runSeed(ctx, s.command())
	if err == nil || !strings.HasPrefix(err.Error(), "stopped after") {
		t.Fatalf("error %v, want one that says it was stopped", err)
	}
	// Requests in flight are finished and counted, so the output is exact.
	if want := fmt.Sprintf("Sent %d of 2050", s.events); !strings.Contains(out, want) || s.events == 2050 {
		t.Errorf("the output %q, want %q", out, want)
	}
}

func TestSeedValidate(t *testing.T) {
	for name, change := range map[string]func(*SeedCmd){
		"url without scheme":   func(c *SeedCmd) { c.URL = "localhost:8080" },
		"no events":            func(c *SeedCmd) { c.Events = 0 },
		"no batch":             func(c *SeedCmd) { c.Batch = 0 },
		"site without its org": func(c *SeedCmd) { c.Site = "s" },
	} {
		c := &SeedCmd{URL: "http://127.0.0.1:8080", Token: "t", Events: 1, Days: 1, Visitors: 1, Batch: 1, Concurrency: 1}
		if err := c.Validate(); err != nil {
			t.Fatal(err)
		}
		if change(c); c.Validate() == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}

func TestSeedLines(t *testing.T) {
	var out bytes.Buffer
	l := &seedLines{to: &out, all: 1000, every: time.Hour}
	for range 10 {
		l.add(100)
	}
	l.done()
	if lines := strings.Count(out.String(), "\n"); lines != 2 || !strings.Contains(out.String(), "1000 of 1000 events, 100%") {
		t.Errorf("lines:\n%s", &out)
	}
}
