package store_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/octavo-docs/octavo/schema/content/tree"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/storetest"
)

// TestFoundSections checks that the best pages of an answer have the sections with words of the search. The section
// with the most words must be first.
func TestFoundSections(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	tenant := storetest.NewTenant(t, storetest.Open(t, url), "t")
	st, sent := counted(t, url)
	s := newSearched(t, st, tenant)
	long := strings.Repeat("many words before it ", 30)
	texts := map[string]string{
		"Animals": "Wombats.\n\n## Food\n\nGrass.\n\n## Wombats\n\nThey dig.\n\n## Homes\n\nNothing here.\n\n" + long + "wombat burrows are long " + long +
			"\n\n## Burrows\n\nOf a wombat: burrows.",
		"Large": "## Wombat burrows\n\n" + strings.Repeat("x ", 50_000),
		"Plain": "Wombat burrows without a heading.",
	}
	s.pending = append(s.pending, tree.Insert{Kind: tree.KindDocument, Ref: "Top", Attributes: tree.Attributes{Title: new("Top")}})
	for i := range 12 {
		texts[fmt.Sprintf("Wombat burrows %d", i)] = "## Section\n\nA wombat."
	}
	for title, text := range texts {
		s.pending = append(s.pending, tree.Insert{
			Kind: tree.KindDocument, Ref: title, Into: new("Top"), Attributes: tree.Attributes{Title: &title, Document: s.document(text)},
		})
	}
	s.merge()
	s.index()
	before := sent.n.Load()
	page, err := st.SearchSpace(t.Context(), store.Sight{}, s.space, "burrows wombat", nil, 100)
	if err != nil {
		t.Fatal(err)
	}
	// The statements read the space, stems, known words, pages, the pages above them, and documents.
	if n := sent.n.Load() - before; n != 6 {
		t.Errorf("a search takes %d statements", n)
	}
	sectioned := 0
	for i, row := range page.Rows {
		if !slices.Equal(row.Ancestors, []string{"Top"}) {
			t.Errorf("%s is below %q", row.Title, row.Ancestors)
		}
		if len(row.Sections) > 0 {
			sectioned++
			if i >= 10 {
				t.Errorf("%s, the page %d, has sections", row.Title, i+1)
			}
		}
	}
	if sectioned == 0 || len(page.Rows) != len(texts) {
		t.Errorf("%d pages, %d with sections", len(page.Rows), sectioned)
	}
	only, err := st.SearchSpace(t.Context(), store.Sight{}, s.space, "burrows wombat -section", nil, 100)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range only.Rows {
		switch row.Title {
		case "Animals":
			if len(row.Sections) != 3 || row.Sections[0].Anchor != "homes" || row.Sections[1].Anchor != "burrows" || row.Sections[2].Anchor != "wombats" {
				t.Fatalf("%+v", row.Sections)
			}
			homes, wombats := row.Sections[0], row.Sections[2]
			if !strings.HasPrefix(homes.Excerpt, "… many words before it many words before it wombat") || !strings.Contains(homes.Excerpt, "wombat burrows") ||
				!strings.HasSuffix(homes.Excerpt, "…") || homes.Rank != row.Rank || wombats.Rank != row.Rank/2 || wombats.Excerpt != "They dig." {
				t.Errorf("%+v", row.Sections)
			}
		default:
			if row.Sections != nil {
				t.Errorf("%s: %+v", row.Title, row.Sections)
			}
		}
	}
}
