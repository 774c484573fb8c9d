package store_test

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content/tree"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/postgres"
	"github.com/octavo-docs/octavo/store/storetest"
)

// longest records the length of the longest list among the arguments of each statement.
type longest struct {
	mu   sync.Mutex
	list map[string]int
}

func (l *longest) note(sql string, args []any) {
	name, _, _ := strings.Cut(strings.TrimPrefix(sql, "-- name: "), " ")
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, arg := range args {
		if v := reflect.ValueOf(arg); v.Kind() == reflect.Slice && v.Type() != reflect.TypeFor[[]byte]() {
			l.list[name] = max(l.list[name], v.Len())
		}
	}
}

func (l *longest) TraceQueryStart(ctx context.Context, _ *pgx.Conn, d pgx.TraceQueryStartData) context.Context {
	l.note(d.SQL, d.Args)
	return ctx
}

func (*longest) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

func (*longest) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	return ctx
}

func (l *longest) TraceBatchQuery(_ context.Context, _ *pgx.Conn, d pgx.TraceBatchQueryData) {
	l.note(d.SQL, d.Args)
}

func (*longest) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

// TestStatementsOfImportsAreBounded imports many pages, changes them all, and removes them. Each statement must get at
// most PagesAtOnce rows, so that a larger space does not make a statement slower.
func TestStatementsOfImportsAreBounded(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	tenant := storetest.NewTenant(t, storetest.Open(t, url), "acme")
	st, err := store.New(postgres.Config{URL: url}, store.Config{})
	if err != nil {
		t.Fatal(err)
	}
	sent := &longest{list: map[string]int{}}
	store.Trace(st, sent)
	if err := st.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer st.Stop()
	space := storetest.Spaces(t, st, tenant.Organization.ID, nil, 1)[0]
	const pages = 2*store.PagesAtOnce + 1
	ids := make([]string, pages)
	for i := range ids {
		ids[i] = schema.NewID()
	}
	for round, n := range []int{pages, pages, 1} {
		operation, err := st.QueueGitOperation(t.Context(), store.NewGitOperation{
			OrganizationID: tenant.Organization.ID, SpaceID: space, Kind: schema.GitImport, URL: "https://git.example/a.git",
			Ref: "refs/heads/main", Timestamp: time.Now().Add(time.Duration(round) * time.Second),
			UserID: tenant.Users[schema.RoleAdmin].ID,
		})
		if err != nil {
			t.Fatal(err)
		}
		base, err := st.GitBase(t.Context(), operation, false)
		if err != nil {
			t.Fatal(err)
		}
		now := time.Now().UTC().Truncate(time.Millisecond)
		in := store.GitImport{
			GitOutcome: store.GitOutcome{Operation: operation, Commit: fmt.Sprint(round), Now: now},
			Base:       base, Force: true, Permit: everybody,
		}
		text := &searched{t: t}
		for i := range n {
			in.Pages = append(in.Pages, tree.Node{Position: fmt.Sprintf("a%05d", i), Page: tree.Page{
				ID: ids[i], Kind: tree.KindDocument, Title: fmt.Sprint("Page ", i), Slug: fmt.Sprint("page-", i),
				CreatedAt: now, UpdatedAt: now, Document: *text.document(fmt.Sprint("Text ", i, " of round ", round)),
			}})
		}
		if err := st.KeepDocuments(t.Context(), space, text.documents); err != nil {
			t.Fatal(err)
		}
		if err := st.ImportGit(t.Context(), in); err != nil {
			t.Fatal(err)
		}
	}
	for name, n := range sent.list {
		if n > store.PagesAtOnce {
			t.Errorf("%s has a list of %d", name, n)
		}
	}
	for _, name := range []string{"InsertDocuments", "EndPages", "InsertPages"} {
		if sent.list[name] != store.PagesAtOnce {
			t.Errorf("%s has lists of at most %d, want %d", name, sent.list[name], store.PagesAtOnce)
		}
	}
}
