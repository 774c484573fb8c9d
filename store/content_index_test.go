package store_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	diff "github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"pgregory.net/rapid"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest/eventually"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content/tree"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/postgres"
	"github.com/octavo-docs/octavo/store/storetest"
)

// TestIndexOfChangesIsThatOfEverything indexes random changes, and then indexes the whole space again. Both indexes
// must have the same rows and the same counts of words. Both must also have exactly the pages that a walk through the
// tree finds.
func TestIndexOfChangesIsThatOfEverything(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	st, conn := storetest.Open(t, url), storetest.Connect(t, url)
	tenant := storetest.NewTenant(t, st, "t")
	rapid.Check(t, func(rt *rapid.T) {
		s := newSearched(t, st, tenant)
		for range rapid.IntRange(1, 3).Draw(rt, "merges") {
			randomMerge(rt, s)
			if rapid.Bool().Draw(rt, "indexed") {
				s.index()
			}
		}
		s.index()
		changes := indexRows(t, conn, s.space)
		for _, forget := range []string{
			"delete from search_pages where space_id = $1", "update search_spaces set revision = '' where space_id = $1",
			"delete from search_words where number = (select number from search_spaces where space_id = $1)",
		} {
			if _, err := conn.Exec(t.Context(), forget, s.space); err != nil {
				rt.Fatal(err)
			}
		}
		s.index()
		if d := diff.Diff(indexRows(t, conn, s.space), changes); d != "" {
			rt.Fatalf("everything anew, and changes: %s", d)
		}
		space, err := st.SpaceByID(t.Context(), s.space)
		if err != nil {
			rt.Fatal(err)
		}
		pages, err := st.Pages(t.Context(), s.space, space.Revision)
		if err != nil {
			rt.Fatal(err)
		}
		rows := storetest.Collect(t, conn,
			fmt.Sprintf("select title || ' @ ' || path from search_pages where space_id = '%s'", s.space))
		slices.Sort(rows)
		if d := diff.Diff(toBeFound(pages, ""), rows); d != "" {
			rt.Fatal(d)
		}
	})
}

// toBeFound returns the titles and paths of the pages that a search may find.
func toBeFound(pages []tree.Page, prefix string) []string {
	list := []string{}
	for _, p := range pages {
		if p.Hidden || p.Kind == tree.KindLink {
			continue
		}
		if !p.NoIndex {
			list = append(list, p.Title+" @ "+prefix+p.Slug)
		}
		list = append(list, toBeFound(p.Pages, prefix+p.Slug+"/")...)
	}
	slices.Sort(list)
	return list
}

func indexRows(t *testing.T, conn *pgx.Conn, space string) []string {
	t.Helper()
	return storetest.Collect(t, conn, fmt.Sprintf(`
		select concat_ws(' | ', page_id, title, path, description, document, top, words) from search_pages where space_id = '%[1]s'
		union all
		select concat_ws(' | ', page_id, part, words) from search_parts where space_id = '%[1]s'
		union all
		select concat_ws(' | ', word, pages, near) from search_words where number = (select number from search_spaces where space_id = '%[1]s')
		union all
		select concat_ws(' | ', revision = (select s.revision from spaces s where s.id = space_id), dictionary, target, reached)
		from search_spaces where space_id = '%[1]s'
		order by 1`, space))
}

// randomMerge merges some random changes. It skips changes that the tree refuses.
func randomMerge(rt *rapid.T, s *searched) {
	ctx := s.t.Context()
	request, err := s.st.CreateChangeRequest(ctx, store.NewChangeRequest{SpaceID: s.space, UserID: s.user})
	if err != nil {
		rt.Fatal(err)
	}
	word := rapid.SampledFrom([]string{"install", "installing", "Über", "東京都", "page", "createPage", "x", "don't", "2.0", "wombats"})
	text := rapid.Custom(func(rt *rapid.T) string { return strings.Join(rapid.SliceOfN(word, 1, 4).Draw(rt, "words"), " ") })
	for range rapid.IntRange(1, 8).Draw(rt, "changes") {
		current, err := s.st.ChangeRequest(ctx, s.space, request.ID)
		if err != nil {
			rt.Fatal(err)
		}
		pages, err := s.st.Pages(ctx, s.space, current.Revision)
		if err != nil {
			rt.Fatal(err)
		}
		ids := []string{""}
		tree.Walk(pages, func(p tree.Placed) bool { ids = append(ids, p.ID); return true })
		page, into := rapid.SampledFrom(ids).Draw(rt, "page"), schema.Opt[string]{Set: true}
		if id := rapid.SampledFrom(ids).Draw(rt, "into"); id != "" {
			into.Value = &id
		}
		var change tree.Change
		switch kind := rapid.SampledFrom([]string{"insert", "text", "rename", "slug", "move", "hide", "noIndex", "describe", "delete"}).Draw(rt, "kind"); {
		case kind == "insert" || page == "":
			change = tree.Insert{
				Kind: rapid.SampledFrom([]string{tree.KindDocument, tree.KindDocument, tree.KindGroup}).Draw(rt, "kind of page"), Into: into.Value,
				Attributes: tree.Attributes{Title: new(text.Draw(rt, "title")), Hidden: new(rapid.IntRange(0, 5).Draw(rt, "hidden") == 0)},
			}
		case kind == "text":
			change = tree.Update{Page: page, Attributes: tree.Attributes{Document: s.document("# " + text.Draw(rt, "heading") + "\n\n" + text.Draw(rt, "text"))}}
		case kind == "rename":
			change = tree.Update{Page: page, Attributes: tree.Attributes{Title: new(text.Draw(rt, "title"))}}
		case kind == "slug":
			change = tree.Update{Page: page, Attributes: tree.Attributes{Slug: new(fmt.Sprint("s", rapid.IntRange(0, 5).Draw(rt, "slug")))}}
		case kind == "move":
			change = tree.Update{Page: page, Into: into}
		case kind == "hide":
			change = tree.Update{Page: page, Attributes: tree.Attributes{Hidden: new(rapid.Bool().Draw(rt, "hidden"))}}
		case kind == "noIndex":
			change = tree.Update{Page: page, Attributes: tree.Attributes{NoIndex: new(rapid.Bool().Draw(rt, "noIndex"))}}
		case kind == "describe":
			change = tree.Update{Page: page, Attributes: tree.Attributes{Description: new(text.Draw(rt, "description"))}}
		default:
			change = tree.Delete{Page: page}
		}
		_, err = s.st.ChangeContent(ctx, current, store.ContentChange{
			UserID: s.user, Pages: []tree.Change{change}, Names: []string{"changes"}, Documents: s.documents,
		})
		if s.documents = nil; err != nil && !schema.IsCode(err, schema.CodeBadRequest) {
			rt.Fatal(err)
		}
	}
	current, err := s.st.ChangeRequest(ctx, s.space, request.ID)
	if err != nil {
		rt.Fatal(err)
	}
	if merged, err := s.st.MergeChangeRequest(ctx, current, s.user, storetest.Allow); err != nil || merged.Conflicts {
		rt.Fatal(merged, err)
	}
}

// many inserts and merges n pages.
func (s *searched) many(n int) {
	s.t.Helper()
	for i := range n {
		s.do(fmt.Sprintf("page Page %04d", i), fmt.Sprintf("Text of number %d.", i))
	}
	s.merge()
}

// TestIndexTouchesWhatChanged edits one of many pages, and moves a page that has a page below it. No statement may read
// or write the rows of other pages in the search index.
func TestIndexTouchesWhatChanged(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	tenant := storetest.NewTenant(t, storetest.Open(t, url), "t")
	st, sent := counted(t, url)
	conn := storetest.Connect(t, url)
	s := newSearched(t, st, tenant)
	s.many(1000)
	s.do("page Parent", "")
	s.do("page Child < Parent", "Below.")
	s.do("page Other", "")
	s.merge()
	s.index()
	versions := func() []string {
		return storetest.Collect(t, conn,
			fmt.Sprintf("select title || ' ' || xmin || ' ' || path from search_pages where space_id = '%s'", s.space))
	}
	touched := func(before []string) (titles []string) {
		for _, row := range versions() {
			if !slices.Contains(before, row) {
				title, _, _ := strings.Cut(row, " ")
				titles = append(titles, title)
			}
		}
		slices.Sort(titles)
		return titles
	}
	for _, test := range []struct {
		line, body string
		want       []string
		most       int64
	}{
		{"text Child", "Changed.", []string{"Child"}, 32},
		{"move Parent < Other", "", []string{"Child", "Parent"}, 32},
		{"hide Other", "", nil, 32},
		{"show Other", "", []string{"Child", "Other", "Parent"}, 32},
	} {
		s.do(test.line, test.body)
		s.merge()
		before, statements := versions(), sent.n.Load()
		s.index()
		if got := touched(before); !slices.Equal(got, test.want) {
			t.Errorf("%s: wrote %q, want %q", test.line, got, test.want)
		}
		if n := sent.n.Load() - statements; n > test.most {
			t.Errorf("%s: %d statements, want at most %d", test.line, n, test.most)
		}
	}
	before := sent.n.Load()
	if s.index(); sent.n.Load()-before > 5 {
		t.Errorf("%d statements to see that nothing changed", sent.n.Load()-before)
	}
}

// TestIndexFollowsTheHead merges a change while an index job for an older revision is halfway. Then another process
// continues the index.
func TestIndexFollowsTheHead(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	st, conn := storetest.Open(t, url), storetest.Connect(t, url)
	s := newSearched(t, st, storetest.NewTenant(t, st, "t"))
	s.many(250)
	// The job waits before the end of its second batch.
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	step := func() string {
		return strings.Join(storetest.Collect(t, conn, "select reached from search_spaces"), " ")
	}
	if _, err := conn.Exec(t.Context(), "insert into search_spaces (space_id, dictionary) values ($1, '')", s.space); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(t.Context(), `create function wait_then() returns trigger language plpgsql as $$
		begin perform pg_advisory_xact_lock(4711); return new; end $$;
		create trigger wait_then before update on search_spaces for each row when (old.reached <> '') execute function wait_then();
		select pg_advisory_lock(4711)`); err != nil {
		t.Fatal(err)
	}
	go func() { done <- st.IndexSpace(ctx, s.space) }()
	eventually.True(t, "the job to wait for the lock", func() bool {
		return len(storetest.Collect(t, conn,
			"select pid::text from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()")) > 0
	})
	// A merge and a comment can lock the space while the index waits.
	if _, err := conn.Exec(t.Context(), "select from spaces where id = $1 for no key update nowait", s.space); err != nil {
		t.Error(err)
	}
	reached := step()
	if reached == "" {
		t.Error("the job has written nothing")
	}
	// The process ends, and a merge creates a newer revision.
	cancel()
	if err := <-done; err == nil {
		t.Error("the job has not noticed")
	}
	for title := range s.ids {
		s.do("text "+title, "Newer text.")
	}
	s.do("page Newest", "")
	s.merge()
	if _, err := conn.Exec(t.Context(), "select pg_advisory_unlock(4711); drop trigger wait_then on search_spaces"); err != nil {
		t.Fatal(err)
	}
	s.index()
	if got := len(s.found("newer text")); got != 250 {
		t.Errorf("%d pages have the newer text", got)
	}
	if got := s.found("number"); got != nil {
		t.Errorf("the older text is found on %d pages", len(got))
	}
	if err := st.IndexSpace(t.Context(), "gone"); err != nil {
		t.Errorf("a space that is gone: %v", err)
	}
	// The index is deleted with the content of the space.
	if err := st.DeleteSpace(t.Context(), s.space); err != nil {
		t.Fatal(err)
	}
	if _, err := st.PurgeContent(t.Context()); err != nil {
		t.Fatal(err)
	}
	if left := storetest.Collect(t, conn,
		"select space_id from search_spaces union all select page_id from search_pages union all select page_id "+
			"from search_parts union all select word from search_words"); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
}

// TestSearchTakesAnyText checks that a search for any text, even with special characters, returns no error.
func TestSearchTakesAnyText(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	tenant := storetest.NewTenant(t, st, "t")
	s := newSearched(t, st, tenant)
	s.do("page Über", "It's a \\ 'quoted' \"word\" & more | less ! :* <-> 東京")
	s.merge()
	s.index()
	viewer := postgres.Viewer{UserID: s.user, Role: schema.RoleAdmin}
	for _, query := range []string{
		`'`, `''`, `\`, `\'`, `'\`, `:*`, `a:*`, `a:A`, `!`, `& |`, `<->`, `"`, `"" ""`, `-`, `--`, `-"`, "\x00", "a\x00b", "\xff", "\u3000", "‑", "ẞ", "İ", "ﬃ", "À̖", "́", "ー",
		strings.Repeat("a ", 200), strings.Repeat("東", 170), strings.Repeat("x", 512), strings.Repeat("'", 512), strings.Repeat("-a ", 100), strings.Repeat(`"a`, 200),
	} {
		s.found(query)
	}
	rapid.Check(t, func(rt *rapid.T) {
		query := rapid.OneOf(
			rapid.String(),
			rapid.StringOf(rapid.SampledFrom([]rune(`ab '"\:*&|!()<->~-東京ñ`+"\u0301\u200d\u0000"))),
		).Draw(rt, "query")
		s.found(query)
		if _, err := st.SearchOrganization(t.Context(), viewer, tenant.Organization.ID, query, nil, 50); err != nil {
			rt.Fatal(err)
		}
	})
}
