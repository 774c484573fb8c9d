package store_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content/tree"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/storetest"
)

// TestFilesThatDocumentsName checks that documents and reusable contents are stored with their references to files.
// Rows of an older version have no references, but must show the same files. The next start must add their references.
func TestFilesThatDocumentsName(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	st := storetest.Open(t, url)
	tenant := storetest.NewTenant(t, st, "acme")
	ctx, admin := t.Context(), tenant.Users[schema.RoleAdmin].ID
	conn := storetest.Connect(t, url)
	exec := func(sql string) {
		t.Helper()
		if _, err := conn.Exec(ctx, sql); err != nil {
			t.Fatal(err)
		}
	}
	request, err := st.CreateChangeRequest(ctx, store.NewChangeRequest{SpaceID: tenant.Space.ID, UserID: admin})
	if err != nil {
		t.Fatal(err)
	}
	change := func(c store.ContentChange) {
		t.Helper()
		c.UserID, c.Names = admin, slices.Repeat([]string{"x"}, len(c.Pages))
		row, err := st.ChangeContent(ctx, request, c)
		if err != nil {
			t.Fatal(err)
		}
		request = row.ChangeRequest
	}
	file := func(name, content string) store.NewFile {
		return store.NewFile{Name: name, ContentType: "text/plain", Content: []byte(content)}
	}
	ids := func() map[string]string {
		t.Helper()
		files, err := st.Files(ctx, tenant.Space.ID, request.Revision)
		if err != nil {
			t.Fatal(err)
		}
		found := map[string]string{}
		for _, f := range files {
			found[f.Name] = f.ID
		}
		return found
	}
	image := func(id string) schema.Node {
		ref := map[string]any{"kind": "file", "file": id}
		return schema.Block("images", schema.Node{Type: "image", Data: schema.Data{"ref": ref}})
	}
	change(store.ContentChange{Files: []store.NewFile{
		file(
			"shown",
			"1",
		), file("included", "2"), file("for some", "3"), file("of a large file", "4"), file("unnamed", "5"),
	}})
	named := ids()
	large := "![](ref:file/" + named["of a large file"] + ")\n\n" + strings.Repeat("word ", 20_000)
	change(store.ContentChange{Files: []store.NewFile{
		file(
			"content",
			"![](ref:file/"+named["included"]+")\n",
		), file("large", large), file("no text", "\xff\xferef:file/"),
	}})
	named = ids()
	block := func(name string) schema.Node {
		ref := map[string]any{"kind": "reusable-content", "reusableContent": named[name]}
		return schema.Node{Type: "reusable-content", Data: schema.Data{"ref": ref}}
	}
	title := "Page"
	var insert store.ContentChange
	for _, blocks := range [][]schema.Node{
		{image(named["shown"]), block("content"), block("large"), block("no text")},
		{schema.Node{Type: "if", Data: schema.Data{"expression": "some"},
			Nodes: []schema.Node{image(named["for some"])}}},
		{schema.Block("paragraph", schema.Text("Names nothing."))},
	} {
		made, err := store.NewDocument(store.Text{Document: schema.NewDocument(blocks...)})
		if err != nil {
			t.Fatal(err)
		}
		insert.Documents = append(insert.Documents, made)
		attributes := tree.Attributes{Title: &title, Document: &made.Hash}
		insert.Pages = append(insert.Pages, tree.Insert{Kind: tree.KindDocument, Attributes: attributes})
	}
	change(insert)

	const columns = `select coalesce(string_agg(d.hash || ' ' || d.file_refs::text, E'\n' order by d.hash), '')
		from (select hash, file_refs from documents union all select hash, file_refs from files) d`
	stored := storetest.Collect(t, conn, columns)[0]
	if n := strings.Count(stored, named["included"]); n != 1 || strings.Contains(stored, named["of a large file"]) {
		t.Errorf("stored: %s", stored)
	}
	// Each call uses a new store, whose caches are empty.
	look := func(when string) {
		t.Helper()
		fresh := storetest.Open(t, url)
		for some, want := range map[bool][]string{
			false: {"included", "shown"}, true: {"for some", "included", "shown"},
		} {
			for range 2 {
				files, err := shownFiles(fresh, tenant.Space.ID, request.Revision, func(condition string) bool {
					return some && condition == "some"
				})
				var got []string
				for _, f := range files {
					got = append(got, f.Name)
				}
				if slices.Sort(got); err != nil || !slices.Equal(got, want) {
					t.Errorf("%s, %t: %q %v, want %q", when, some, got, err, want)
				}
			}
		}
	}
	look("as stored")
	exec("update documents set file_refs = null")
	exec("update files set file_refs = null")
	look("by an older version")
	// The rows need more than one step of the migration, and one document is unreadable.
	exec(`insert into documents (space_id, hash, content) select 's', g::text, '{}' from generate_series(1, 2500) g`)
	exec(`insert into documents (space_id, hash, content) values ('s', 'broken', '"file"')`)
	if _, err := st.Migrate(ctx); err != nil {
		t.Fatal(err)
	}
	exec("delete from documents where space_id = 's' and file_refs = '{}'")
	if diff := cmp.Diff(stored, storetest.Collect(t, conn, columns)[0]); diff != "" {
		t.Errorf("after the next start: %s", diff)
	}
	look("after the next start")
}

func shownFiles(st *store.Store, space, revision string, allows store.Allows) ([]store.File, error) {
	files, err := st.Files(context.Background(), space, revision)
	if err != nil {
		return nil, err
	}
	return st.ShownFiles(context.Background(), space, revision, files, allows, nil)
}

// TestFilesOfManyPages checks that the references of a large revision are read with a few statements. For a cached
// revision, only the files are read.
func TestFilesOfManyPages(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	tenant := storetest.NewTenant(t, storetest.Open(t, url), "acme")
	st, sent := counted(t, url)
	ctx, admin := t.Context(), tenant.Users[schema.RoleAdmin].ID
	request, err := st.CreateChangeRequest(ctx, store.NewChangeRequest{SpaceID: tenant.Space.ID, UserID: admin})
	if err != nil {
		t.Fatal(err)
	}
	file := store.NewFile{Name: "a", ContentType: "text/plain", Content: []byte("a")}
	change := store.ContentChange{UserID: admin, Files: []store.NewFile{file}}
	title := "Page"
	const pages = 1000
	for i := range pages {
		text := schema.Block("paragraph", schema.Text(fmt.Sprint("file ", i)))
		made, err := store.NewDocument(store.Text{Document: schema.NewDocument(text)})
		if err != nil {
			t.Fatal(err)
		}
		change.Documents = append(change.Documents, made)
		attributes := tree.Attributes{Title: &title, Document: &made.Hash}
		change.Pages = append(change.Pages, tree.Insert{Kind: tree.KindDocument, Attributes: attributes})
		change.Names = append(change.Names, "x")
	}
	row, err := st.ChangeContent(ctx, request, change)
	if err != nil {
		t.Fatal(err)
	}
	// The first call reads the files twice, the tree, and the documents in four steps.
	for _, most := range []int64{7, 1} {
		before := sent.n.Load()
		files, err := shownFiles(st, tenant.Space.ID, row.ChangeRequest.Revision, func(string) bool { return true })
		if n := sent.n.Load() - before; err != nil || len(files) != 0 || n != most {
			t.Errorf("%d statements, want %d: %v %v", n, most, files, err)
		}
	}
}
