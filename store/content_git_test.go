package store_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content/tree"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/postgres"
	"github.com/octavo-docs/octavo/store/storetest"
)

// everybody permits every author.
func everybody(store.Author) bool { return true }

// TestImportGitLocksLate changes the space while an import loads its files. The import must merge these changes. The
// files of a failed import must be deleted, except files that the space has.
func TestImportGitLocksLate(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	st := storetest.Open(t, url)
	tenant := storetest.NewTenant(t, st, "tenant")
	space := tenant.Space.ID
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	lock := func() error {
		return pgx.BeginFunc(t.Context(), conn, func(tx pgx.Tx) error {
			_, err := tx.Exec(t.Context(), "select from spaces where id = $1 for update nowait", space)
			return err
		})
	}
	files := func() (n int) {
		t.Helper()
		if err := conn.QueryRow(t.Context(), "select count(*) from files where space_id = $1", space).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	now := time.Now().UTC().Truncate(time.Millisecond)
	queue := func(branch string) store.GitImport {
		t.Helper()
		now = now.Add(time.Second)
		o, err := st.QueueGitOperation(t.Context(), store.NewGitOperation{
			OrganizationID: tenant.Organization.ID, SpaceID: space, Kind: schema.GitImport, URL: "https://git.example/a.git", Ref: "refs/heads/" + branch, Timestamp: now,
			UserID: tenant.Users[schema.RoleAdmin].ID,
		})
		if err != nil {
			t.Fatal(err)
		}
		base, err := st.GitBase(t.Context(), o, false)
		if err != nil {
			t.Fatal(err)
		}
		return store.GitImport{
			GitOutcome: store.GitOutcome{Operation: o, Commit: "c", Now: now}, Base: base, Permit: everybody,
		}
	}
	page := func(id, position string) tree.Node {
		return tree.Node{Page: tree.Page{ID: id, Kind: tree.KindDocument, Title: id, Slug: id, CreatedAt: now, UpdatedAt: now}, Position: position}
	}
	loads := 0
	asset := func(id, content string, during func() error) store.GitAsset {
		return store.GitAsset{ID: id, Name: id, ContentType: "text/plain", Load: func() ([]byte, error) {
			loads++
			return []byte(content), during()
		}}
	}
	outer := queue("main")
	outer.Pages = []tree.Node{page("outer", "a0")}
	outer.Assets = []store.GitAsset{asset("one", "1", lock), asset("two", "2", func() error {
		// Another user's change happens during this import.
		inner := queue("other")
		inner.Pages, inner.Force = []tree.Node{page("inner", "a1")}, true
		return st.ImportGit(t.Context(), inner)
	})}
	outer.Force = true
	if err := st.ImportGit(t.Context(), outer); err != nil {
		t.Fatal(err)
	}
	revision := queue("main").Base.Head
	pages, err := st.Pages(t.Context(), space, revision)
	if err != nil || len(pages) != 1 || pages[0].ID != "outer" || loads != 2 {
		t.Errorf("%+v %v, %d loads", pages, err, loads)
	}
	if got, err := st.Files(t.Context(), space, revision); err != nil || len(got) != 2 || files() != 2 {
		t.Errorf("%+v %v", got, err)
	}
	failing := queue("main")
	failing.Assets = []store.GitAsset{asset("three", "3", lock), asset("again", "1", lock), asset("four", "4", func() error { return fmt.Errorf("unreadable") })}
	if err := st.ImportGit(t.Context(), failing); err == nil {
		t.Error("a file that cannot be read is imported")
	}
	if n := files(); n != 2 {
		t.Errorf("%d contents are stored", n)
	}
	small, err := store.New(postgres.Config{
		URL: url, MaxConns: 4, Quotas: postgres.Quotas{FileBytes: 6},
	}, store.Config{})
	if err == nil {
		err = small.Start(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(small.Stop)
	large := queue("main")
	large.Assets = []store.GitAsset{asset("five", "555", lock), asset("six", "666", lock)}
	if err := small.ImportGit(t.Context(), large); !schema.IsCode(err, schema.CodeForbidden) {
		t.Errorf("over the quota: %v", err)
	}
	if n := files(); n != 2 {
		t.Errorf("%d contents are stored", n)
	}
}

// TestManyPages writes more pages than one statement can write. It writes to a new space, over earlier pages, and to
// a separate branch. The separate branch also records deletions.
func TestManyPages(t *testing.T) {
	t.Parallel()
	const many, fewer = 2500, 1200
	st := storetest.New(t)
	tenant := storetest.NewTenant(t, st, "ours")
	space, now := tenant.Space.ID, time.Now().UTC().Truncate(time.Millisecond)
	positions := tree.Spread(many)
	// pages returns the first n pages. If swapped is true, the first and the last page have swapped their places and
	// slugs.
	pages := func(n int, swapped bool) []tree.Node {
		nodes := make([]tree.Node, n)
		for i := range nodes {
			at := i
			if swapped && (i == 0 || i == n-1) {
				at = n - 1 - i
			}
			nodes[i] = tree.Node{Position: positions[at], Page: tree.Page{
				ID: fmt.Sprintf("p%d", i), Kind: tree.KindDocument, Title: "T", Slug: fmt.Sprintf("s%d", at), CreatedAt: now, UpdatedAt: now,
			}}
		}
		return nodes
	}
	imported := func(list []tree.Node, standalone bool) string {
		t.Helper()
		now = now.Add(time.Second)
		o, err := st.QueueGitOperation(t.Context(), store.NewGitOperation{
			OrganizationID: tenant.Organization.ID, SpaceID: space, Kind: schema.GitImport, URL: "https://git.example/a.git", Ref: "refs/heads/main",
			Timestamp: now, UserID: tenant.Users[schema.RoleAdmin].ID,
		})
		if err != nil {
			t.Fatal(err)
		}
		in := store.GitImport{
			GitOutcome: store.GitOutcome{Operation: o, Commit: "c", Now: now}, Pages: list, Force: true,
			Standalone: standalone, Permit: everybody,
		}
		if in.Base, err = st.GitBase(t.Context(), o, false); err != nil {
			t.Fatal(err)
		}
		if err := st.ImportGit(t.Context(), in); err != nil {
			t.Fatal(err)
		}
		operations, err := st.ListGitOperations(t.Context(), space, nil, 1)
		if err != nil {
			t.Fatal(err)
		}
		return *operations.Rows[0].Revision
	}
	want := func(revision string, list []tree.Node, changes int) {
		t.Helper()
		got, err := st.Pages(t.Context(), space, revision)
		if err != nil || len(got) != len(list) {
			t.Fatalf("%d pages, want %d: %v", len(got), len(list), err)
		}
		slices.SortFunc(list, tree.InOrder)
		for i := range list {
			if got[i].ID != list[i].ID || got[i].Slug != list[i].Slug {
				t.Fatalf("page %d is %+v, want %+v", i, got[i], list[i])
			}
		}
		r, err := st.Revision(t.Context(), space, revision)
		if err != nil {
			t.Fatal(err)
		}
		listed, more, err := st.RevisionChanges(t.Context(), r, nil, 10)
		if err != nil || len(listed)+more < changes || r.PageCount != len(list) {
			t.Errorf("%d changes, %d pages: %v", len(listed)+more, r.PageCount, err)
		}
	}
	want(imported(pages(many, false), false), pages(many, false), many)
	beside := imported(pages(fewer, true), true)
	want(beside, pages(fewer, true), many-fewer+2)
	want(imported(pages(many, true), false), pages(many, true), 2)
	want(imported(pages(fewer, false), false), pages(fewer, false), many-fewer+1)
	want(beside, pages(fewer, true), many-fewer+2)
}
