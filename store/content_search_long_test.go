package store_test

import (
	"slices"
	"strings"
	"testing"

	diff "github.com/google/go-cmp/cmp"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content/contenttest"
	"github.com/octavo-docs/octavo/store/postgres"
	"github.com/octavo-docs/octavo/store/storetest"
)

// TestSearchFindsLongPages searches for words at all places of pages of the largest size. Each search must find its
// page exactly once.
func TestSearchFindsLongPages(t *testing.T) {
	if testing.Short() {
		t.Skip("runs only in the long form: CI runs make test-long")
	}
	t.Parallel()
	url := storetest.URL(t)
	st, conn := storetest.Open(t, url), storetest.Connect(t, url)
	tenant := storetest.NewTenant(t, st, "t")
	s := newSearched(t, st, tenant)
	texts := map[string]string{
		"Words":    contenttest.LongWords(),
		"Chinese":  contenttest.LongChinese(),
		"Sections": contenttest.LongPage(),
	}
	for title, text := range texts {
		s.do("page "+title, text)
	}
	s.do("page Short", contenttest.Last+" and others")
	s.merge()
	batches := storetest.Collect(t, conn, "select (sum(octet_length(content)) / (4 << 20))::int::text from documents")
	if batches[0] == "0" {
		t.Error("the documents fit in one batch")
	}
	s.index()
	words, chinese := strings.Fields(texts["Words"]), []rune(texts["Chinese"])
	all := []string{"Sections @ sections", "Short @ short", "Words @ words"}
	one := all[2:]
	for query, want := range map[string][]string{
		contenttest.Last:                   all,
		contenttest.LastChinese:            {"Chinese @ chinese"},
		string(chinese[:4]):                {"Chinese @ chinese"},
		`"` + string(chinese[30:39]) + `"`: {"Chinese @ chinese"},
		words[20_000] + " " + words[9]:     one,
		words[100_000]:                     one,
		"words " + words[60_000]:           one,
		contenttest.Last + " -" + words[2]: {"Sections @ sections", "Short @ short"},
		contenttest.Last + " -others":      {"Sections @ sections", "Words @ words"},
		contenttest.Last + " sections":     all[:1],
		"zebrafnch":                        all,
		words[100_000] + " missingword":    nil,
	} {
		got := s.found(query)
		slices.Sort(got)
		if d := diff.Diff(want, got); d != "" {
			t.Errorf("%.60q finds %s", query, d)
		}
	}
	// A phrase must be found at every place, even if it begins in one indexed part of the page and ends in the next
	// part.
	for at := 7_980; at < 8_020; at += 3 {
		phrase := func(at int) string { return `"` + strings.Join(words[at:at+3], " ") + `"` }
		if d := diff.Diff(one, s.found(phrase(at))); d != "" {
			t.Errorf("words %d to %d: %s", at, at+2, d)
		}
	}
	if got := s.found(`"` + words[8_000] + " " + words[8_002] + `"`); got != nil {
		t.Errorf("a phrase that is not there finds %v", got)
	}
	page, err := st.SearchOrganization(
		t.Context(),
		postgres.Viewer{UserID: s.user, Role: schema.RoleAdmin},
		tenant.Organization.ID,
		contenttest.Last,
		nil,
		10,
	)
	if err != nil || len(page.Rows) != 1 || len(page.Rows[0].Pages) != 3 {
		t.Errorf("in the organization: %+v %v", page, err)
	}
	parts := func() int {
		return len(storetest.Collect(t, conn, "select page_id from search_parts"))
	}
	before := parts()
	s.do("text Words", "Now a short one.")
	s.do("delete Chinese", "")
	s.merge()
	s.index()
	if after := parts(); after == 0 || after >= before {
		t.Errorf("%d parts of %d are left", after, before)
	}
	for query, want := range map[string][]string{
		contenttest.Last: all[:2], contenttest.LastChinese: nil, `"` + words[100_000] + `"`: nil,
		"short": {"Short @ short", "Words @ words"},
	} {
		if d := diff.Diff(want, s.found(query)); d != "" {
			t.Errorf("%.60q finds %s", query, d)
		}
	}
}
