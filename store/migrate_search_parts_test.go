package store_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	diff "github.com/google/go-cmp/cmp"

	"github.com/octavo-docs/octavo/schema/content/contenttest"
	"github.com/octavo-docs/octavo/store/storetest"
)

// TestLongPagesAreIndexedAgain brings a database to the state before migration 15. In that state, the index does not
// have the last words of a long page. After the migration, searches must find the same pages as before, and a job must
// be enqueued. After the job, searches must find the last word.
func TestLongPagesAreIndexedAgain(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	st, conn := storetest.Open(t, url), storetest.Connect(t, url)
	tenant := storetest.NewTenant(t, st, "t")
	long, short := newSearched(t, st, tenant), newSearched(t, st, tenant)
	migration, err := os.ReadFile("migrations/00015_search_parts.sql")
	if err != nil {
		t.Fatal(err)
	}
	words := strings.Fields(contenttest.LongWords())[:20_000] // more than 64 KiB
	long.do("page Long", strings.Join(append(words, contenttest.Last), " "))
	short.do("page Short", "A few words.")
	for _, s := range []*searched{long, short} {
		s.merge()
		s.index()
	}
	for _, statement := range []string{
		"delete from river_job",
		"drop table search_parts", "alter table search_pages alter column words set storage extended",
		fmt.Sprintf(`update search_pages p set words = ('''' || s.number::text || ' %s'':1D')::tsvector
			from search_spaces s where s.space_id = p.space_id and p.title = 'Long'`, words[3]),
		"delete from search_words",
		string(migration),
	} {
		if _, err := conn.Exec(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	if n, err := st.Migrate(t.Context()); n != 0 || err != nil {
		t.Fatalf("%d migrations, %v", n, err)
	}
	if d := diff.Diff([]string{"Long @ long"}, long.found(words[3])); d != "" {
		t.Errorf("after the migration: %s", d)
	}
	if d := diff.Diff([]string{long.space}, storetest.Collect(t, conn,
		"select args ->> 'space' from river_job where kind like '%index%'")); d != "" {
		t.Errorf("jobs: %s", d)
	}
	long.index()
	for _, word := range []string{words[3], contenttest.Last} {
		if d := diff.Diff([]string{"Long @ long"}, long.found(word)); d != "" {
			t.Errorf("after the job, %q: %s", word, d)
		}
	}
	if d := diff.Diff([]string{"Short @ short"}, short.found("words")); d != "" {
		t.Errorf("another space: %s", d)
	}
}
