package jobs

import (
	"fmt"
	"strings"
	"time"

	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/api/remote/translation/translationtest"
	"github.com/octavo-docs/octavo/cmd/engine/enginetest/eventually"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content/tree"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/storetest"
)

// fill imports this number of pages into a tenant's space.
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
	base, err := b.st.GitBase(ctx, o, false)
	if err != nil {
		b.t.Fatal(err)
	}
	now := time.Now().UTC().Truncate(time.Millisecond)
	in := store.GitImport{GitOutcome: store.GitOutcome{Operation: o, Commit: "c", Now: now}, Base: base}
	in.Permit = access.SynchronizingGit().Permits
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

// translated creates a translation of a tenant's space into German and requests its first run.
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

// runOf returns the only run of a translation.
func (b *bench) runOf(translation string) store.TranslationRun {
	b.t.Helper()
	runs, err := b.st.ListTranslationRuns(b.t.Context(), translation, "", 10)
	if err != nil || len(runs.Rows) != 1 {
		b.t.Fatalf("%+v %v", runs, err)
	}
	return runs.Rows[0]
}

// count runs a query and returns the number that is its result.
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

// translationInTheMiddle is a translation whose process is killed. unanswered is the number of requests to the
// translator that have no answer at the time of the kill.
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
	// stored has the texts whose translations were stored before the kill.
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
			const segments = 1 + killedPages*(1+killedParagraphs) // This is the number of titles and paragraphs.
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

// wantLoud checks that every page of the translated space has its title and its paragraphs in capitals.
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

// translatorHeld is killed while it waits for the translator's answer to the third batch.
func translatorHeld(b *bench, tenant *storetest.Tenant) exchange {
	return translationInTheMiddle(b, tenant, hold(b.t, 3), 1)
}

// translationHeld is killed during the transaction that creates the translated space.
func translationHeld(b *bench, tenant *storetest.Tenant) exchange {
	e := translationInTheMiddle(b, tenant, hold(b.t, 0), 0)
	e.reached, e.release = b.holdTable("translations", "update of result_space_id", "true")
	return e
}

// holdTable adds a trigger to a table. A change of a row that meets the SQL condition `when` waits until `release` is
// called. reached returns when a change waits.
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
		eventually.True(b.t, "a change of "+table+" to wait", func() bool {
			return b.count("select count(*) from pg_locks where locktype = 'advisory' and objid = $1 and not granted", key) == 1
		})
	}
	return reached, func() { exec(fmt.Sprintf("select pg_advisory_unlock(%d)", key)) }
}
