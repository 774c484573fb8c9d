package store_test

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	diff "github.com/google/go-cmp/cmp"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content/markdown"
	"github.com/octavo-docs/octavo/schema/content/tree"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/postgres"
	"github.com/octavo-docs/octavo/store/storetest"
)

// searched is a space for tests of search. The tests name its pages by their titles.
type searched struct {
	t     testing.TB
	st    *store.Store
	user  string
	space string
	// ids has the ids of merged pages, by title.
	ids map[string]string
	// pending has the changes of the next merge.
	pending   []tree.Change
	documents []store.Document
}

func newSearched(t testing.TB, st *store.Store, tenant *storetest.Tenant) *searched {
	t.Helper()
	space := storetest.Spaces(t, st, tenant.Organization.ID, nil, 1)[0]
	return &searched{t: t, st: st, user: tenant.Users[schema.RoleAdmin].ID, space: space, ids: map[string]string{}}
}

func (s *searched) document(text string) *string {
	s.t.Helper()
	read, err := markdown.Read(text)
	if err != nil {
		s.t.Fatal(err)
	}
	document, err := store.NewDocument(store.Text{Document: read})
	if err != nil {
		s.t.Fatal(err)
	}
	s.documents = append(s.documents, document)
	return &document.Hash
}

// merge merges the pending changes into the main content.
func (s *searched) merge() {
	s.t.Helper()
	if len(s.pending) == 0 {
		return
	}
	ctx := s.t.Context()
	request, err := s.st.CreateChangeRequest(ctx, store.NewChangeRequest{SpaceID: s.space, UserID: s.user})
	if err != nil {
		s.t.Fatal(err)
	}
	row, err := s.st.ChangeContent(ctx, request, store.ContentChange{
		UserID: s.user, Pages: s.pending, Names: make([]string, len(s.pending)), Documents: s.documents,
	})
	if err != nil {
		s.t.Fatal(err)
	}
	merged, err := s.st.MergeChangeRequest(ctx, row.ChangeRequest, s.user, storetest.Allow)
	if err != nil || merged.Conflicts {
		s.t.Fatal(merged, err)
	}
	s.pending, s.documents = nil, nil
	pages, err := s.st.Pages(ctx, s.space, merged.Revision)
	if err != nil {
		s.t.Fatal(err)
	}
	clear(s.ids)
	tree.Walk(pages, func(p tree.Placed) bool { s.ids[p.Title] = p.ID; return true })
}

func (s *searched) index() {
	s.t.Helper()
	if err := s.st.IndexSpace(s.t.Context(), s.space); err != nil {
		s.t.Fatal(err)
	}
}

// id returns the name of a page for a change: the page's id, or the title if the page is not merged yet.
func (s *searched) id(title string) string {
	if id, ok := s.ids[title]; ok {
		return id
	}
	return title
}

// found returns the titles of the pages that a search finds. It reads two results at a time, and checks that every page
// of the list has the same total. It sorts pages with equal rank by title.
func (s *searched) found(query string) (titles []string) {
	s.t.Helper()
	return s.foundBy(store.Sight{}, query)
}

func (s *searched) foundBy(by store.Sight, query string) (titles []string) {
	s.t.Helper()
	var rows []store.FoundPage
	var after *postgres.Cursor[float32]
	for {
		page, err := s.st.SearchSpace(s.t.Context(), by, s.space, query, after, 2)
		if err != nil {
			s.t.Fatalf("%q: %v", query, err)
		}
		for _, row := range page.Rows {
			rows = append(rows, row)
			after = &postgres.Cursor[float32]{Key: row.Rank, ID: row.PageID}
		}
		if page.More {
			continue
		}
		if page.Total != int64(len(rows)) {
			s.t.Errorf("%q: %d pages, and said %d", query, len(rows), page.Total)
		}
		break
	}
	slices.SortStableFunc(rows, func(a, b store.FoundPage) int {
		return cmp.Or(cmp.Compare(b.Rank, a.Rank), cmp.Compare(a.Title, b.Title))
	})
	for _, row := range rows {
		titles = append(titles, row.Title+" @ "+row.Path)
	}
	return titles
}

// do reads a change from a line of a case, and adds it to the pending changes.
func (s *searched) do(line, body string) {
	s.t.Helper()
	what, rest, _ := strings.Cut(line, " ")
	flag := func(name string) *bool {
		cut, found := strings.CutSuffix(rest, " ("+name+")")
		rest = cut
		if !found {
			return nil
		}
		return &found
	}
	var text *string
	if body != "" {
		text = s.document(body)
	}
	var change tree.Change
	switch what {
	case "page", "group", "link":
		kind := map[string]string{"page": tree.KindDocument, "group": tree.KindGroup, "link": tree.KindLink}[what]
		noIndex, hidden := flag("noIndex"), flag("hidden")
		title, parent, below := strings.Cut(rest, " < ")
		insert := tree.Insert{Kind: kind, Ref: title, Attributes: tree.Attributes{Title: &title, Hidden: hidden, NoIndex: noIndex, Document: text}}
		if below {
			insert.Into = new(s.id(parent))
		}
		if what == "link" {
			insert.Target = schema.Data{"kind": "url", "url": "https://example.com/" + title}
		}
		change = insert
	case "text":
		change = tree.Update{Page: s.id(rest), Attributes: tree.Attributes{Document: text}}
	case "move":
		title, parent, below := strings.Cut(rest, " < ")
		into := schema.Opt[string]{Set: true}
		if below {
			into.Value = new(s.id(parent))
		}
		change = tree.Update{Page: s.id(title), Into: into}
	case "rename":
		from, to, _ := strings.Cut(rest, " -> ")
		change = tree.Update{Page: s.id(from), Attributes: tree.Attributes{Title: &to}}
	case "describe":
		title, description, _ := strings.Cut(rest, ": ")
		change = tree.Update{Page: s.id(title), Attributes: tree.Attributes{Description: &description}}
	case "hide", "show":
		change = tree.Update{Page: s.id(rest), Attributes: tree.Attributes{Hidden: new(what == "hide")}}
	case "delete":
		change = tree.Delete{Page: s.id(rest)}
	case "language":
		if _, err := s.st.UpdateSpace(s.t.Context(), s.space, store.SpaceChange{Language: &rest}); err != nil {
			s.t.Fatal(err)
		}
		return
	default:
		s.t.Fatalf("%q", line)
	}
	s.pending = append(s.pending, change)
}

func TestSearchCases(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/search.txt")
	if err != nil {
		t.Fatal(err)
	}
	st := storetest.New(t)
	tenant := storetest.NewTenant(t, st, "t")
	for _, test := range strings.Split(string(text), "\n== ")[1:] {
		name, steps, _ := strings.Cut(test, "\n")
		t.Run(name, func(t *testing.T) {
			s := newSearched(t, st, tenant)
			lines := strings.Split(strings.TrimSpace(steps), "\n")
			for len(lines) > 0 {
				line := lines[0]
				lines = lines[1:]
				var body []string
				for len(lines) > 0 && (lines[0] == "" || strings.HasPrefix(lines[0], "  ")) {
					body, lines = append(body, strings.TrimPrefix(lines[0], "  ")), lines[1:]
				}
				query, asks := strings.CutPrefix(line, "? ")
				if !asks {
					s.do(line, strings.TrimSpace(strings.Join(body, "\n")))
					continue
				}
				var want []string
				for len(lines) > 0 && strings.Contains(lines[0], " @ ") {
					want, lines = append(want, lines[0]), lines[1:]
				}
				s.merge()
				s.index()
				if d := diff.Diff(want, s.found(query)); d != "" {
					t.Errorf("%s: %s", query, d)
				}
			}
		})
	}
}

// TestSearchListsAllOfMany finds more pages than a search ranks. The list must have each page once, and pages with the
// word in their titles first.
func TestSearchListsAllOfMany(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	s := newSearched(t, st, storetest.NewTenant(t, st, "t"))
	for i := range 600 {
		s.do(fmt.Sprintf("page Wombat %d", i), "About it.")
	}
	for i := range 150 {
		s.do(fmt.Sprintf("page Other %d", i), "A wombat is here.")
	}
	s.merge()
	s.index()
	var after *postgres.Cursor[float32]
	seen := map[string]bool{}
	for {
		page, err := st.SearchSpace(t.Context(), store.Sight{}, s.space, "wombat", after, 70)
		if err != nil {
			t.Fatal(err)
		}
		if page.Total != 750 {
			t.Fatalf("the total is %d, want 750", page.Total)
		}
		for _, row := range page.Rows {
			if after != nil && row.Rank > after.Key {
				t.Fatalf("%s has rank %g and comes after one of rank %g", row.Title, row.Rank, after.Key)
			}
			if strings.HasPrefix(row.Title, "Other") && len(seen) < 500 {
				t.Fatalf("%s is at place %d", row.Title, len(seen))
			}
			if seen[row.PageID] {
				t.Fatalf("%s is there twice", row.Title)
			}
			seen[row.PageID], after = true, &postgres.Cursor[float32]{Key: row.Rank, ID: row.PageID}
		}
		if !page.More {
			break
		}
	}
	if len(seen) != 750 {
		t.Errorf("the list has %d pages, want 750", len(seen))
	}
}
