package jobs

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/mail"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/octavo-docs/octavo/api/view"
	"github.com/octavo-docs/octavo/cmd/engine/enginetest/eventually"
	octavomail "github.com/octavo-docs/octavo/ingest/mail"
	"github.com/octavo-docs/octavo/ingest/mail/mailtest"
	"github.com/octavo-docs/octavo/ingest/openapi"
	"github.com/octavo-docs/octavo/ingest/outbound"
	"github.com/octavo-docs/octavo/ingest/outbound/outboundtest"
	"github.com/octavo-docs/octavo/ingest/provider"
	"github.com/octavo-docs/octavo/ingest/translation"
	"github.com/octavo-docs/octavo/ingest/translation/translationtest"
	"github.com/octavo-docs/octavo/ingest/tunnel"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/content/tree"
	"github.com/octavo-docs/octavo/store/storetest"
)

func kindsNamed(name string) []Kind {
	return slices.DeleteFunc(Kinds(), func(k Kind) bool { return k.Name != name })
}

// depsOnLoopback are what kinds of jobs work with in the process that is killed, and in the one that goes on. The counterpart, an address
// with a port, is that of the translator or of the server for mails; the others are named by what the jobs are about.
func depsOnLoopback(st *store.Store, counterpart string) (Deps, error) {
	policy, err := outbound.ParsePolicy([]string{outboundtest.Loopback})
	if err != nil {
		return Deps{}, err
	}
	guard := outbound.New(outbound.Config{Policy: policy})
	urls, err := schema.NewURLs("https://docs.example.com")
	if err != nil {
		return Deps{}, err
	}
	deps := Deps{
		Store: st, View: view.Presenter{URLs: urls}, Tunnels: tunnel.New(guard), Specs: openapi.NewFetcher(guard, openapi.DefaultLimits),
		SpecsInterval: time.Hour,
		Translator: translation.NewLibreTranslate(provider.Config{
			Guard: guard, URL: &url.URL{Scheme: "http", Host: counterpart}, Key: translationtest.LibreKey, Name: "the translator",
		}),
	}
	server, err := octavomail.ParseServer("smtp://" + counterpart)
	if err == nil {
		deps.Mail = octavomail.New(octavomail.Config{Guard: guard, Server: server, From: &mail.Address{Address: "octavo@example.com"}})
	}
	return deps, nil
}

// held is where the exchange of a job with its counterpart stands still until the job's process is dead.
type held struct {
	t  testing.TB
	at int

	mu      sync.Mutex
	asked   int
	reached chan struct{}
	dead    chan struct{}
}

func hold(t testing.TB, at int) *held {
	return &held{t: t, at: at, reached: make(chan struct{}), dead: make(chan struct{})}
}

// next is called by the counterpart in the middle of each exchange. It returns late from one of them.
func (h *held) next() {
	h.mu.Lock()
	h.asked++
	now := h.asked == h.at
	h.mu.Unlock()
	if !now {
		return
	}
	close(h.reached)
	select {
	case <-h.dead:
	case <-h.t.Context().Done():
	}
}

func (h *held) untilReached() { receive(h.t, h.reached) }
func (h *held) release()      { close(h.dead) }

// half answers with the first half of a text, and with the rest once the client is dead.
func (h *held) half(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Length", fmt.Sprint(len(text)))
	_, _ = w.Write([]byte(text[:len(text)/2]))
	_ = http.NewResponseController(w).Flush()
	h.next()
	_, _ = w.Write([]byte(text[len(text)/2:]))
}

// exchange is a job in the middle of which its process is killed.
type exchange struct {
	kind        string
	counterpart string
	// reached returns when the process is to die, release lets the counterpart go on once it is dead.
	reached, release func()
	// dead checks what there is after the kill, after what another process has made of it.
	dead, after func()
}

// TestKilledInTheMiddle kills the process of a job, as the kernel would, while its counterpart answers. Another node takes over, and the
// result is as if nothing had happened, but for what the counterpart has heard twice.
func TestKilledInTheMiddle(t *testing.T) {
	t.Parallel()
	for name, begin := range map[string]func(*bench, *storetest.Tenant) exchange{
		"translator":              translatorHeld,
		"translation is put away": translationHeld,
		"specification":           specificationHeld,
		"mail server":             mailHeld,
		"tunnel":                  tunnelHeld,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			e := begin(b, storetest.NewTenant(t, b.st, "ours"))
			kill := b.victim(victimKindEnv+"="+e.kind, victimCounterpartEnv+"="+e.counterpart)
			e.reached()
			kill()
			e.dead()
			e.release()
			b.run(nil, func(c *Config) {
				c.Kinds = kindsNamed(e.kind)
				deps, err := depsOnLoopback(c.Deps.Store, e.counterpart)
				if err != nil {
					t.Fatal(err)
				}
				c.Deps = deps
			})
			var job schema.Job
			eventually.Succeeds(t, patience, "the job is done", func() error {
				page, err := b.st.ListAllJobs(t.Context(), nil, &e.kind, "", 10)
				if err != nil || len(page.Rows) != 1 {
					return fmt.Errorf("%+v %w", page.Rows, err)
				}
				if job = page.Rows[0]; job.State != schema.JobDone {
					return fmt.Errorf("%+v", job)
				}
				return nil
			})
			if job.Attempt != 2 {
				t.Errorf("%+v", job)
			}
			e.after()
		})
	}
}

// fill makes pages the content of a space.
func (b *bench) fill(tenant *storetest.Tenant, pages int, document func(i int) schema.Document) {
	b.t.Helper()
	ctx := b.t.Context()
	o, err := b.st.QueueGitOperation(ctx, store.NewGitOperation{
		OrganizationID: tenant.Organization.ID, SpaceID: tenant.Space.ID, Kind: schema.GitImport, URL: "https://git.example/a.git",
		Ref: "refs/heads/main", Timestamp: time.Now(), UserID: tenant.Users[schema.RoleAdmin].ID,
	})
	if err != nil {
		b.t.Fatal(err)
	}
	base, err := b.st.GitBase(ctx, o)
	if err != nil {
		b.t.Fatal(err)
	}
	now := time.Now().UTC().Truncate(time.Millisecond)
	in := store.GitImport{GitOutcome: store.GitOutcome{Operation: o, Commit: "c", Now: now}, Base: base}
	var documents []store.Document
	for i, position := range tree.Spread(pages) {
		d, err := store.NewDocument(store.Text{Document: document(i)})
		if err != nil {
			b.t.Fatal(err)
		}
		if documents = append(documents, d); len(documents) == 100 || i == pages-1 {
			if err := b.st.KeepDocuments(ctx, tenant.Space.ID, documents); err != nil {
				b.t.Fatal(err)
			}
			documents = documents[:0]
		}
		in.Pages = append(in.Pages, tree.Node{Position: position, Page: tree.Page{
			ID: schema.NewID(), Kind: tree.KindDocument, Title: fmt.Sprintf("Page %d", i), Slug: fmt.Sprintf("page-%d", i),
			Document: d.Hash, CreatedAt: now, UpdatedAt: now,
		}})
	}
	if err := b.st.ImportGit(ctx, in); err != nil {
		b.t.Fatal(err)
	}
}

// translated asks for a run of a new translation of a tenant's space into German.
func (b *bench) translated(tenant *storetest.Tenant) store.Translation {
	b.t.Helper()
	instructions, err := schema.EncodeJSON(schema.NewDocument())
	if err != nil {
		b.t.Fatal(err)
	}
	row, err := b.st.CreateTranslation(b.t.Context(), store.NewTranslation{
		OrganizationID: tenant.Organization.ID, SourceSpaceID: tenant.Space.ID, SourceLanguage: "en", Language: "de", Instructions: instructions,
	})
	if err != nil {
		b.t.Fatal(err)
	}
	if err := b.st.RequestTranslationRun(b.t.Context(), tenant.Organization.ID, row.ID); err != nil {
		b.t.Fatal(err)
	}
	return row
}

// runOf is the only run of a translation.
func (b *bench) runOf(translation string) store.TranslationRun {
	b.t.Helper()
	runs, err := b.st.ListTranslationRuns(b.t.Context(), translation, "", 10)
	if err != nil || len(runs.Rows) != 1 {
		b.t.Fatalf("%+v %v", runs, err)
	}
	return runs.Rows[0]
}

// count is the number that a query gives.
func (b *bench) count(query string, args ...any) (n int) {
	b.t.Helper()
	if err := b.conn.QueryRow(b.t.Context(), query, args...).Scan(&n); err != nil {
		b.t.Fatal(err)
	}
	return n
}

const (
	killedPages      = 4
	killedParagraphs = 20
)

func paragraphOf(page, i int) string { return fmt.Sprintf("This is sentence %d of page %d.", i, page) }

// translationInTheMiddle is a translation whose process dies when reached returns, without an answer to some requests.
func translationInTheMiddle(b *bench, tenant *storetest.Tenant, h *held, unanswered int) exchange {
	t := b.t
	libre := translationtest.NewLibre(t, func(r translationtest.LibreRequest) translationtest.LibreAnswer {
		h.next()
		return translationtest.LoudLibre(r)
	})
	b.fill(tenant, killedPages, func(page int) schema.Document {
		var blocks []schema.Node
		for i := range killedParagraphs {
			blocks = append(blocks, schema.Block("paragraph", schema.Text(paragraphOf(page, i))))
		}
		return schema.NewDocument(blocks...)
	})
	row := b.translated(tenant)
	spaces := func() int {
		return b.count("select count(*) from spaces where organization_id = $1", tenant.Organization.ID)
	}
	// stored are the texts that were translated before the kill.
	stored := map[string]bool{}
	return exchange{
		kind: schema.TranslateSpace{}.Kind(), counterpart: strings.TrimPrefix(libre.URL, "http://"), reached: h.untilReached, release: h.release,
		dead: func() {
			requests := libre.Requests()
			for _, r := range requests[:len(requests)-unanswered] {
				for _, q := range r.Q {
					stored[q] = true
				}
			}
			now, err := b.st.Translation(t.Context(), tenant.Organization.ID, row.ID)
			run := b.runOf(row.ID)
			if err != nil || now.ResultSpaceID != nil || run.State != schema.RunRunning || run.Segments != int64(len(stored)) || len(stored) == 0 || spaces() != 1 {
				t.Errorf("%+v %+v, %d spaces, %d texts translated: %v", now, run, spaces(), len(stored), err)
			}
		},
		after: func() {
			times := map[string]int{}
			for _, r := range libre.Requests() {
				for _, q := range r.Q {
					if times[q]++; times[q] > 1 && stored[q] {
						t.Errorf("%q was stored, and sent again", q)
					}
				}
			}
			const segments = 1 + killedPages*(1+killedParagraphs) // with the titles
			if run := b.runOf(row.ID); run.State != schema.RunDone || run.Segments != segments || len(times) != segments || run.ReportCount != 0 {
				t.Errorf("%+v, %d texts were sent", run, len(times))
			}
			now, err := b.st.Translation(t.Context(), tenant.Organization.ID, row.ID)
			if err != nil || now.ResultSpaceID == nil || spaces() != 2 {
				t.Fatalf("%+v, %d spaces: %v", now, spaces(), err)
			}
			b.wantLoud(*now.ResultSpaceID, *now.ResultRevision)
		},
	}
}

// wantLoud checks every page of the copy.
func (b *bench) wantLoud(space, revision string) {
	b.t.Helper()
	pages, err := b.st.Pages(b.t.Context(), space, revision)
	if err != nil || len(pages) != killedPages {
		b.t.Fatalf("%+v %v", pages, err)
	}
	for n, page := range pages {
		texts, err := b.st.Documents(b.t.Context(), space, []string{page.Document})
		if err != nil || page.Title != fmt.Sprintf("PAGE %d", n) {
			b.t.Errorf("%+v %v", page, err)
		}
		nodes := texts[page.Document].Document.Nodes
		for i := range killedParagraphs {
			if len(nodes) != killedParagraphs || nodes[i].Nodes[0].Leaves[0].Text != strings.ToUpper(paragraphOf(n, i)) {
				b.t.Fatalf("page %d: %+v", n, nodes)
			}
		}
	}
}

// translatorHeld dies while the translator has the third batch.
func translatorHeld(b *bench, tenant *storetest.Tenant) exchange {
	return translationInTheMiddle(b, tenant, hold(b.t, 3), 1)
}

// translationHeld dies in the transaction that makes the copy.
func translationHeld(b *bench, tenant *storetest.Tenant) exchange {
	e := translationInTheMiddle(b, tenant, hold(b.t, 0), 0)
	e.reached, e.release = b.holdTable("translations", "update of result_space_id", "true")
	return e
}

// holdTable stops whoever changes certain rows of a table, until release is called. reached returns when somebody is stopped.
func (b *bench) holdTable(table, event, when string) (reached, release func()) {
	b.t.Helper()
	const key = 4711
	exec := func(sql string) {
		b.t.Helper()
		if _, err := b.conn.Exec(b.t.Context(), sql); err != nil {
			b.t.Fatal(err)
		}
	}
	exec(fmt.Sprintf(`create function hold() returns trigger language plpgsql as $$ begin perform pg_advisory_xact_lock(%d); return new; end $$;
		create trigger hold before %s on %s for each row when (%s) execute function hold();
		select pg_advisory_lock(%[1]d)`, key, event, table, when))
	reached = func() {
		eventually.True(b.t, patience, "somebody changes "+table, func() bool {
			return b.count("select count(*) from pg_locks where locktype = 'advisory' and objid = $1 and not granted", key) == 1
		})
	}
	return reached, func() { exec(fmt.Sprintf("select pg_advisory_unlock(%d)", key)) }
}

// specificationHeld dies in the middle of one document, after another one.
func specificationHeld(b *bench, tenant *storetest.Tenant) exchange {
	t, h := b.t, hold(b.t, 1)
	var mu sync.Mutex
	requests := map[string]int{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		requests[r.URL.Path]++
		mu.Unlock()
		text := "openapi: 3.0.0\ninfo: {title: " + r.URL.Path + ", version: '1'}\npaths: {}\n"
		if r.URL.Path == "/slow" {
			h.half(w, text)
			return
		}
		_, _ = w.Write([]byte(text))
	}))
	t.Cleanup(server.Close)
	specs := specBench{b, tenant.Organization.ID}
	specs.set("quick", server.URL+"/quick")
	specs.set("slow", server.URL+"/slow")
	want := func(slug string, asked, versions int, state string) {
		t.Helper()
		spec, err := b.st.OpenAPISpec(t.Context(), specs.org, slug)
		if err != nil {
			t.Fatal(err)
		}
		mu.Lock()
		defer mu.Unlock()
		kept := b.count("select count(*) from openapi_spec_versions where spec_id = $1", spec.ID)
		if requests["/"+slug] != asked || int(spec.Versions) != versions || kept != versions || spec.ProcessingState != state || len(errorsOf(t, spec)) != 0 {
			t.Errorf("%d requests, %d versions: %+v", requests["/"+slug], kept, spec)
		}
	}
	return exchange{
		kind: schema.FetchOpenAPI{}.Kind(), release: h.release,
		reached: func() {
			h.untilReached()
			specs.until("quick", "fetched", complete)
		},
		dead: func() {
			want("quick", 1, 1, schema.SpecComplete)
			want("slow", 1, 0, schema.SpecProgress)
		},
		after: func() {
			want("quick", 1, 1, schema.SpecComplete)
			want("slow", 2, 1, schema.SpecComplete)
		},
	}
}

// mailHeld dies after the server has taken the second of some mails, and before it says so.
func mailHeld(b *bench, tenant *storetest.Tenant) exchange {
	t, h := b.t, hold(b.t, 2)
	server := mailtest.New(t, mailtest.Options{Data: func(mailtest.Mail) error {
		h.next()
		return nil
	}})
	const people = 5
	var list []store.PersonToInvite
	for i := range people {
		list = append(list, store.PersonToInvite{Email: fmt.Sprintf("person-%d@example.com", i)})
	}
	if _, err := b.st.InviteByEmail(t.Context(), tenant.Organization.ID, tenant.Users[schema.RoleAdmin].ID, list, false); err != nil {
		t.Fatal(err)
	}
	states := func() map[schema.InviteMailState]int {
		page, err := b.st.ListEmailInvites(t.Context(), tenant.Organization.ID, "", 100)
		if err != nil {
			t.Fatal(err)
		}
		states := map[schema.InviteMailState]int{}
		for _, invite := range page.Rows {
			states[schema.InviteMailState(invite.MailState)]++
		}
		return states
	}
	return exchange{
		kind: schema.SendInvites{}.Kind(), counterpart: server.Addr, reached: h.untilReached, release: h.release,
		dead: func() {
			if got := states(); len(server.Mails()) != 2 || got[schema.InviteMailSent] != 1 || got[schema.InviteMailWaiting] != people-1 {
				t.Errorf("%d mails, %v", len(server.Mails()), got)
			}
		},
		after: func() {
			mails := server.Mails()
			byPerson := map[string][]mailtest.Mail{}
			for _, m := range mails {
				byPerson[m.To] = append(byPerson[m.To], m)
			}
			if got := states(); len(byPerson) != people || len(mails) != people+1 || got[schema.InviteMailSent] != people {
				t.Fatalf("%d mails for %d people, %v", len(mails), len(byPerson), got)
			}
			twice := byPerson[mails[1].To]
			if len(twice) != 2 || twice[0].Header.Get("Message-ID") == "" || twice[0].Header.Get("Message-ID") != twice[1].Header.Get("Message-ID") || twice[0].Text != twice[1].Text {
				t.Errorf("%+v", twice)
			}
		},
	}
}

// tunnelHeld dies in the middle of a tunnel's answer.
func tunnelHeld(b *bench, tenant *storetest.Tenant) exchange {
	t, h := b.t, hold(b.t, 1)
	var mu sync.Mutex
	var heard []schema.IntegrationEventPayload
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var event schema.IntegrationEventPayload
		if err := json.Unmarshal([]byte(r.FormValue("event")), &event); err != nil {
			t.Error(err)
		}
		mu.Lock()
		heard = append(heard, event)
		mu.Unlock()
		h.half(w, "The integration has dealt with it.")
	}))
	t.Cleanup(server.Close)
	const name = "killed"
	title, private, all, runtime := "Killed", "private", "all", "v1"
	owner := store.Membership{Organization: tenant.Organization, Role: schema.RoleAdmin}
	integration, err := b.st.PublishIntegration(t.Context(), tenant.Users[schema.RoleAdmin].ID, owner, store.NewIntegration{
		Name: name, Script: "export {}",
		Manifest: schema.IntegrationManifest{Title: &title, Description: &title, Runtime: &runtime, Visibility: &private, Target: &all},
	})
	if err == nil {
		err = b.st.SetIntegrationTunnel(t.Context(), name, server.URL, false)
	}
	if err == nil {
		_, err = b.st.InstallIntegration(t.Context(), integration, owner)
	}
	if err != nil {
		t.Fatal(err)
	}
	listed := func() []store.IntegrationEvent {
		page, err := b.st.ListIntegrationEvents(t.Context(), name, "", 10)
		if err != nil || int(page.Total) != len(page.Rows) {
			t.Fatalf("%+v %v", page, err)
		}
		return page.Rows
	}
	return exchange{
		kind: schema.SendIntegrationEvent{}.Kind(), reached: h.untilReached, release: h.release,
		dead: func() {
			if got := listed(); len(got) != 0 {
				t.Errorf("an event whose end nobody saw is listed: %+v", got)
			}
		},
		after: func() {
			got := listed()
			mu.Lock()
			defer mu.Unlock()
			if len(got) != 1 || schema.Or(got[0].Status, "") != schema.EventSuccess || len(heard) != 2 || heard[0].EventID != got[0].ID || heard[1].EventID != got[0].ID {
				t.Errorf("%+v, heard %+v", got, heard)
			}
		},
	}
}
