package store_test

import (
	"context"
	"testing"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content/tree"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/storetest"
)

// TestLostContents deletes the rows of a document and a file, as if Postgres had lost the disk page with these rows.
// Content still refers to the document and the file. Reading the document or the file must return the error about
// damage, and not an empty text or not_found.
func TestLostContents(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	st := storetest.Open(t, url)
	tenant := storetest.NewTenant(t, st, "acme")
	ctx, space := t.Context(), tenant.Space.ID
	admin := tenant.Users[schema.RoleAdmin].ID
	title, text := "Title", "Text"
	document, err := store.NewDocument(store.Text{Document: schema.NewDocument(), Markdown: &text})
	if err != nil {
		t.Fatal(err)
	}
	request, err := st.CreateChangeRequest(ctx, store.NewChangeRequest{SpaceID: space, UserID: admin})
	if err != nil {
		t.Fatal(err)
	}
	attributes := tree.Attributes{Title: &title, Document: &document.Hash}
	changed, err := st.ChangeContent(ctx, request, store.ContentChange{
		UserID: admin, Names: []string{"a"}, Documents: []store.Document{document},
		Pages: []tree.Change{tree.Insert{Kind: tree.KindDocument, Attributes: attributes}},
	})
	if err != nil {
		t.Fatal(err)
	}
	head := changed.ChangeRequest.Revision
	pages, err := st.Pages(ctx, space, head)
	if err != nil {
		t.Fatal(err)
	}
	page := pages[len(pages)-1].ID
	if _, got, err := st.PageText(ctx, space, head, page); err != nil || got.Markdown == nil || *got.Markdown != text {
		t.Fatalf("the page has %+v, %v", got, err)
	}
	conn := storetest.Connect(t, url)
	if _, err := conn.Exec(context.WithoutCancel(ctx), "delete from documents where space_id = $1", space); err != nil {
		t.Fatal(err)
	}
	read := map[string]func() error{
		"the text of a page": func() error { _, _, err := st.PageText(ctx, space, head, page); return err },
		"documents":          func() error { _, err := st.Documents(ctx, space, []string{document.Hash}); return err },
		"a file":             func() error { _, err := st.FileContent(ctx, space, document.Hash); return err },
		"pieces of a file": func() error {
			_, err := st.ReadFile(ctx, space, store.File{Hash: document.Hash, Size: 10}).Next(10)
			return err
		},
	}
	for name, read := range read {
		if err := read(); schema.DamageOf(err) == nil || !schema.IsCode(err, schema.CodeUnavailable) {
			t.Errorf("%s: %v, want damage", name, err)
		}
	}
	if _, err := st.Document(ctx, space, "another"); !schema.IsCode(err, schema.CodeNotFound) {
		t.Errorf("a hash that a caller made up: %v", err)
	}
}
