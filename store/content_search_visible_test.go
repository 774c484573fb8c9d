package store_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/storetest"
)

// TestSearchOfVisibleWords searches for words that only some visitors see. Other visitors must not learn that a page
// has the words: from the pages, their number, excluded words and corrections. The text of a long page is not read, so
// its hidden words find it for users only.
func TestSearchOfVisibleWords(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	s := newSearched(t, st, storetest.NewTenant(t, st, "t"))
	const secret = "{% if visitor.claims.partner %}\n\n## Quaxorb\n\nThe discount is 40 percent.\n\n{% endif %}\n"
	var long strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&long, "many%d ", i)
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
		{"a partner", store.Sight{Allows: func(condition string) bool { return condition == "visitor.claims.partner" }}},
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
		check(`"discount is 40 percent"`, "Long Mixed Offer", "Mixed Offer", "")
		check("discount", "Long Mixed Offer", "Mixed Offer", "Mixed")
		check("discount low", "Mixed", "Mixed", "Mixed")
		check("public", "Long Offer", "Long Offer", "Long Offer")
		check("public many19999", "Long", "Long", "Long")
		check("public -percent", "", "Long Offer", "Long Offer")
		check("public -wombats", "Long", "Long", "Long")
		check("40", "Long Mixed Offer Open", "Mixed Offer Open", "Open")
		// A hidden word and an unknown word are corrected alike.
		check("quaxorb", "Long Mixed Offer Open", "Mixed Offer Open", "Open")
		check("quaxorx", "Open", "Open", "Open")
	}
	checkAll()
	// The vocabulary must still be right when the text has become public, and hidden again.
	s.do("text Offer", "Public prices. Quaxorb.\n\nFor wombats.")
	s.merge()
	s.index()
	check("quaxorb", "Long Mixed Offer", "Mixed Offer", "Offer")
	s.do("text Offer", "Public prices.\n\n"+secret+"\nFor wombats.")
	s.merge()
	s.index()
	checkAll()
}
