package store_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/postgres"
	"github.com/octavo-docs/octavo/store/storetest"
)

// TestSearchOfVisibleWords searches for words that only some visitors see. Other visitors must not learn that a page
// has the words: from the pages, their number, excluded words and corrections.
func TestSearchOfVisibleWords(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	s := newSearched(t, st, storetest.NewTenant(t, st, "t"))
	const secret = "{% if visitor.claims.partner %}\n\n## Quaxorb\n\nThe discount is 40 percent.\n\n{% endif %}\n"
	var long strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&long, "many%d ", i/100)
	}
	s.do("page Offer", "Public prices.\n\n"+secret+"\nFor wombats.")
	s.do("page Mixed", "The discount is low.\n\n"+secret)
	s.do("page Long", "Public platypus.\n\n"+long.String()+"\n\n"+secret)
	s.do("page Open", "Quaxorn pays 40 dollars.")
	s.merge()
	s.index()
	callers := []struct {
		name string
		by   store.Sight
	}{
		{"a user", store.Sight{}},
		{"a partner", store.Sight{Allows: func(condition string) bool {
			return condition == "visitor.claims.partner"
		}}},
		{"a stranger", store.Sight{Allows: func(string) bool { return false }}},
	}
	check := func(query string, want ...string) {
		t.Helper()
		for i, caller := range callers {
			got := s.foundBy(caller.by, query)
			for j := range got {
				got[j], _, _ = strings.Cut(got[j], " @ ")
			}
			slices.Sort(got)
			if text := strings.Join(got, " "); text != want[i] {
				t.Errorf("%s finds %q for %s, want %q", caller.name, text, query, want[i])
			}
		}
	}
	checkAll := func() {
		t.Helper()
		check(`"discount is 40 percent"`, "Long Mixed Offer", "Long Mixed Offer", "")
		check("discount", "Long Mixed Offer", "Long Mixed Offer", "Mixed")
		check("discount low", "Mixed", "Mixed", "Mixed")
		check("discount many199", "Long", "Long", "")
		check("discount -zebra", "Long Mixed Offer", "Long Mixed Offer", "Mixed")
		check("discount -wombats", "Long Mixed", "Long Mixed", "Mixed")
		check("discount -platypus", "Mixed Offer", "Mixed Offer", "Mixed")
		check("discount -percent", "", "Mixed", "Mixed")
		check("public", "Long Offer", "Long Offer", "Long Offer")
		check("public many199", "Long", "Long", "Long")
		check("public -percent", "", "Long Offer", "Long Offer")
		check("public -wombats", "Long", "Long", "Long")
		check("40", "Long Mixed Offer Open", "Long Mixed Offer Open", "Open")
		// A hidden word and an unknown word are corrected alike.
		check("quaxorb", "Long Mixed Offer Open", "Long Mixed Offer Open", "Open")
		check("quaxorx", "Open", "Open", "Open")
	}
	checkAll()
	// The vocabulary must still be right when the text has become public, and hidden again.
	s.do("text Offer", "Public prices. Quaxorb.\n\nFor wombats.")
	s.merge()
	s.index()
	check("quaxorb", "Long Mixed Offer", "Long Mixed Offer", "Offer")
	s.do("text Offer", "Public prices.\n\n"+secret+"\nFor wombats.")
	s.merge()
	s.index()
	checkAll()
}

// TestSearchOfManyVisiblePages has more marked pages than one batch of documents. A partner must find them all. Long
// pages with only one word of the query must not use up the documents that a search reads.
func TestSearchOfManyVisiblePages(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	s := newSearched(t, st, storetest.NewTenant(t, st, "t"))
	filler := func(name string, size int) string {
		var text strings.Builder
		for i := range size {
			fmt.Fprintf(&text, "%s%d ", name, i/100)
		}
		return text.String()
	}
	const secret = "\n\n{% if visitor.claims.partner %}\n\nDiscount on wombats.\n\n{% endif %}\n"
	for i := range 30 {
		s.do(fmt.Sprintf("page Small %d", i), "Public."+secret)
	}
	for i := range 3 {
		s.do(fmt.Sprintf("page Large %d", i), filler("large", 9_000)+secret)
	}
	s.do("page Parts", filler("parts", 20_000)+secret)
	for i := range 25 {
		s.do(fmt.Sprintf("page Half %d", i), filler("half", 17_000)+strings.ReplaceAll(secret, "wombats", "others"))
	}
	s.merge()
	s.index()
	partner := store.Sight{Allows: func(condition string) bool { return condition == "visitor.claims.partner" }}
	stranger := store.Sight{Allows: func(string) bool { return false }}
	for _, query := range []string{"discount wombats", "wombats", "discount wombats -zebra"} {
		for by, want := range map[*store.Sight]int{&partner: 34, &stranger: 0} {
			page, err := st.SearchSpace(t.Context(), *by, s.space, query, nil, 100)
			if err != nil || len(page.Rows) != want || page.Total != int64(want) {
				t.Errorf("%s finds %d of %d pages, want %d: %v", query, len(page.Rows), page.Total, want, err)
			}
		}
	}
}

// TestSearchExcludesByTheWholeText excludes a word of the text of pages that have the wanted word in their titles.
func TestSearchExcludesByTheWholeText(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	tenant := storetest.NewTenant(t, st, "t")
	s := newSearched(t, st, tenant)
	s.do("page Apple", "A banana.")
	s.do("page Apple too", "A cherry.")
	s.merge()
	s.index()
	want := []string{"Apple too @ apple-too"}
	if got := s.found("apple -banana"); !slices.Equal(got, want) {
		t.Errorf("in the space: %v", got)
	}
	viewer := postgres.Viewer{UserID: s.user, Role: schema.RoleAdmin}
	page, err := st.SearchOrganization(t.Context(), viewer, tenant.Organization.ID, "apple -banana", nil, 10)
	if err != nil || len(page.Rows) != 1 || len(page.Rows[0].Pages) != 1 || page.Rows[0].Pages[0].Title != "Apple too" {
		t.Errorf("in the organization: %+v %v", page, err)
	}
}
