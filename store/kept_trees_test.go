package store_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content/tree"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/storetest"
)

// TestKeptTreesAnswerAsPostgresDoes reads revisions through two stores, and compares the results. The first store has
// cached the revisions' trees. The second store has empty caches.
func TestKeptTreesAnswerAsPostgresDoes(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	kept, cold := storetest.Open(t, url), storetest.Open(t, url)
	tenant := storetest.NewTenant(t, cold, "acme")
	ctx, space := t.Context(), tenant.Space.ID
	user := tenant.Users[schema.RoleAdmin].ID
	request, err := cold.CreateChangeRequest(ctx, store.NewChangeRequest{SpaceID: space, UserID: user})
	if err != nil {
		t.Fatal(err)
	}
	revisions := []string{request.Revision}
	change := func(names []string, changes ...tree.Change) {
		t.Helper()
		changed, err := cold.ChangeContent(ctx, request, store.ContentChange{UserID: user, Names: names, Pages: changes})
		if err != nil {
			t.Fatal(err)
		}
		request = changed.ChangeRequest
		revisions = append(revisions, request.Revision)
	}
	var changes []tree.Change
	var names []string
	for i := range 20 {
		into, title, kind := "", fmt.Sprint("Page ", i%5), tree.KindDocument // titles, and so slugs, repeat
		if i > 3 {
			into = fmt.Sprint("p", i/4)
		}
		insert := tree.Insert{Kind: kind, Ref: fmt.Sprint("p", i), Attributes: tree.Attributes{Title: &title}}
		switch {
		case into != "":
			insert.Into = schema.Some(into).Value
		case i == 2:
			insert.Kind = tree.KindGroup
		}
		if i > 16 {
			insert.Kind, insert.Attributes.Target = tree.KindLink, schema.Data{"kind": "url", "url": "https://example.com"}
		}
		changes, names = append(changes, insert), append(names, fmt.Sprint("page", i))
	}
	change(names, changes...)
	pages, err := cold.Pages(ctx, space, request.Revision)
	if err != nil {
		t.Fatal(err)
	}
	renamed := "renamed"
	change(nil, tree.Update{Page: pages[1].ID, Attributes: tree.Attributes{Slug: &renamed}})

	cold = storetest.Open(t, url) // this store must not have a cached tree
	for _, revision := range revisions {
		pages, err := kept.Pages(ctx, space, revision)
		if err != nil {
			t.Fatal(err)
		}
		ids, paths := []string{"nothing"}, []string{"nothing", "page-0/nothing", ""}
		tree.Walk(pages, func(p tree.Placed) bool {
			ids, paths = append(ids, p.ID), append(paths, p.Path)
			return true
		})
		for i, read := range []func(*store.Store) (any, error){
			func(s *store.Store) (any, error) { return s.PagesAt(ctx, space, revision, paths) },
			func(s *store.Store) (any, error) { return s.PathsOf(ctx, space, revision, ids) },
		} {
			same(t, fmt.Sprint(revision, " read ", i), kept, cold, read)
		}
		for _, id := range ids {
			same(t, "page "+id, kept, cold, func(s *store.Store) (any, error) { return s.Page(ctx, space, revision, id) })
		}
		for _, path := range paths {
			for _, asked := range []string{path, "/" + path + "/"} {
				same(t, "path "+asked, kept, cold, func(s *store.Store) (any, error) { return s.PageByPath(ctx, space, revision, asked) })
			}
		}
	}
}

func same(t *testing.T, what string, kept, cold *store.Store, read func(*store.Store) (any, error)) {
	t.Helper()
	got, gotErr := read(kept)
	want, wantErr := read(cold)
	if fmt.Sprint(gotErr) != fmt.Sprint(wantErr) {
		t.Fatalf("%s: the kept tree says %v, Postgres %v", what, gotErr, wantErr)
	}
	if diff := cmp.Diff(want, got); wantErr == nil && diff != "" {
		t.Fatalf("%s: the kept tree answers otherwise (-Postgres +kept):\n%s", what, diff)
	}
}

// TestLargestTreeIsKept checks that the cache has room for a tree with the maximum number of pages.
func TestLargestTreeIsKept(t *testing.T) {
	t.Parallel()
	if size := store.SizeOfTree(tree.MaxPages); size != store.KeptPages {
		t.Errorf("the largest tree counts as %d of %d", size, store.KeptPages)
	}
}
