package store

import (
	"testing"

	"github.com/octavo-docs/octavo/store/content/tree"
)

// TestContentBecomesRows migrates spaces of before there were rows: each revision has the pages, texts and files that it had, and
// change requests of that time take changes and merge.
func TestContentBecomesRows(t *testing.T) {
	t.Parallel()
	s, _, conn := migratedTo(t, 25)
	exec := func(sql string) {
		t.Helper()
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	exec(`insert into users (id, display_name, email) values ('u', 'U', 'u@example.com')`)
	exec(`insert into organizations (id, title, hostname) values ('o', 'O', 'o')`)
	exec(`insert into spaces (id, organization_id, position, title, emoji, edit_mode, revision) values ('s', 'o', 1, 'S', '', 'live', 'r2')`)
	exec(`insert into revisions (id, space_id, type, parents, pages, files) values
		('r1', 's', 'edits', '{}', '[]', '[]'),
		('r2', 's', 'merge', '{r1}', (
			select jsonb_agg(jsonb_build_object('id', 'p' || n, 'type', 'document', 'title', 'Page ' || n, 'slug', 'page-' || n,
				'createdAt', '2026-01-02T03:04:05Z', 'updatedAt', '2026-01-02T03:04:05Z', 'document', 'd1', 'pages', case n when 7 then
					'[{"id":"c","type":"document","title":"Below","slug":"below","createdAt":"2026-01-02T03:04:05Z","updatedAt":"2026-01-02T03:04:05Z","pages":[
						{"id":"l","type":"link","title":"Link","createdAt":"2026-01-02T03:04:05Z","updatedAt":"2026-01-02T03:04:05Z","target":{"kind":"url","url":"https://example.com"}},
						{"id":"leaf","type":"document","title":"Leaf","slug":"leaf","createdAt":"2026-01-02T03:04:05Z","updatedAt":"2026-01-02T03:04:05Z","pages":[]}]}]'::jsonb
					else '[]' end) order by n)
			from generate_series(1, 5000) n), '[{"id":"f1","name":"a.txt","contentType":"text/plain","size":3,"hash":"h1"}]'),
		('b1', 's', 'edits', '{r1}', '[{"id":"mine","type":"document","title":"Mine","slug":"mine","createdAt":"2026-01-02T03:04:05Z","updatedAt":"2026-01-02T03:04:05Z","document":"d2","pages":[]}]', '[]')`)
	exec(`insert into documents (organization_id, hash, content) values ('o', 'd1', '{"nodes":[]}'), ('o', 'd2', '{"nodes":[],"markdown":"x"}'), ('o', 'unnamed', '{}')`)
	exec(`insert into files (organization_id, hash, content) values ('o', 'h1', 'abc'), ('o', 'unnamed', 'x')`)
	exec(`insert into change_requests (id, space_id, organization_id, number, status, created_by, revision, revision_initial) values
		('old', 's', 'o', 1, 'open', 'u', 'b1', 'r1'), ('new', 's', 'o', 2, 'draft', 'u', 'r2', 'r2')`)

	if _, err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	pages, err := s.Pages(t.Context(), "s", "r2")
	if err != nil || len(pages) != 5000 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	for i, want := range tree.Spread(5000) {
		node, _, err := pageSource{ctx: t.Context(), q: s.queries, spaceID: "s", revisionID: "r2"}.Page(pages[i].ID)
		if err != nil || node.Position != want || pages[i].Slug != "page-"+node.ID[1:] {
			t.Fatalf("page %d is %+v, want it at %s; %v", i, node, want, err)
		}
	}
	leaf, err := s.PageByPath(t.Context(), "s", "r2", "/page-7/below/leaf")
	if err != nil || leaf.ID != "leaf" || leaf.Title != "Leaf" || leaf.CreatedAt.Year() != 2026 {
		t.Errorf("%+v, %v", leaf.Page, err)
	}
	link, err := s.Page(t.Context(), "s", "r2", "l")
	if err != nil || link.Target["url"] != "https://example.com" || link.Path != "" {
		t.Errorf("%+v, %v", link, err)
	}
	if texts, err := s.Documents(t.Context(), "s", []string{"d1", "d2"}); err != nil || *texts["d2"].Markdown != "x" {
		t.Errorf("%v, %v", texts, err)
	}
	if listed, err := s.Files(t.Context(), "s", "r2"); err != nil || len(listed) != 1 || listed[0] != (File{"f1", "a.txt", "text/plain", 3, "h1"}) {
		t.Errorf("%v, %v", listed, err)
	}
	if text, err := s.FileContent(t.Context(), "s", "h1"); err != nil || string(text) != "abc" {
		t.Errorf("%q, %v", text, err)
	}
	var left int
	if err := conn.QueryRow(t.Context(), "select count(*) from documents").Scan(&left); err != nil || left != 2 {
		t.Errorf("%d documents, %v", left, err)
	}

	for _, id := range []string{"new", "old"} {
		request, err := s.ChangeRequest(t.Context(), "s", id)
		if err != nil {
			t.Fatal(err)
		}
		title := "Added by " + id
		changed, err := s.ChangeContent(t.Context(), request, ContentChange{
			UserID: "u", Names: []string{"x"}, Pages: []tree.Change{tree.Insert{Kind: tree.KindDocument, Attributes: tree.Attributes{Title: &title}}},
		})
		if err != nil {
			t.Fatal(err)
		}
		all, err := s.Pages(t.Context(), "s", changed.ChangeRequest.Revision)
		if want := map[string]int{"new": 5001, "old": 2}[id]; err != nil || len(all) != want || all[len(all)-1].Title != title {
			t.Errorf("%s has %d pages, want %d; %v", id, len(all), want, err)
		}
		merged, err := s.MergeChangeRequest(t.Context(), changed.ChangeRequest, "u", func(MergeFacts) error { return nil })
		if err != nil || merged.Conflicts {
			t.Fatalf("%s: %+v, %v", id, merged, err)
		}
		all, err = s.Pages(t.Context(), "s", merged.Revision)
		if want := map[string]int{"new": 5001, "old": 5003}[id]; err != nil || len(all) != want {
			t.Errorf("with %s there are %d pages, want %d; %v", id, len(all), want, err)
		}
	}
}
