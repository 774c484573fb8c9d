package store_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/octavo-docs/octavo/store/storetest"
)

// TestDocumentsNameSpecs checks that a search by a specification finds the documents that refer to it. Documents that
// Postgres cannot read as JSON must be stored too.
func TestDocumentsNameSpecs(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	st, conn := storetest.Open(t, url), storetest.Connect(t, url)
	space := storetest.NewTenant(t, st, "acme").Space.ID
	documents := map[string]string{
		"two":     `{"nodes":[{"data":{"ref":{"spec":"pets","kind":"openapi"}}},{"nodes":[{"fragments":[{"data":{"ref":{"kind":"openapi","spec":"toys"}}}]}]}]}`,
		"twice":   `{"nodes":[{"data":{"ref":{"kind":"openapi","spec":"pets"}}},{"data":{"ref":{"kind":"openapi","spec":"pets"}}}]}`,
		"text":    `{"nodes":[{"leaves":[{"text":"{\"kind\":\"openapi\",\"spec\":\"pets\"}"}]}]}`,
		"no slug": `{"kind":"openapi","spec":7,"a":{"kind":"openapi"},"b":[{"kind":"openapi","spec":null}]}`,
		"a file":  `{"ref":{"kind":"file","spec":"pets"},"markdown":"\"openapi\""}`,
		"long":    `{"kind":"openapi","spec":"` + strings.Repeat("x", 101) + `"}`,
		"NUL":     `{"text":"\u0000","ref":{"kind":"openapi","spec":"pets"}}`,
		"no JSON": `"openapi`, "no UTF-8": "{\"a\":\"\xff\",\"b\":\"openapi\"}",
		"deep": strings.Repeat(`{"a":`, 100_000) + `"openapi"` + strings.Repeat("}", 100_000),
	}
	for hash, content := range documents {
		if _, err := conn.Exec(t.Context(), "insert into documents (space_id, hash, content) values ($1, $2, $3)", space, hash, []byte(content)); err != nil {
			t.Errorf("%s: %v", hash, err)
		}
	}
	for slug, want := range map[string][]string{"pets": {"twice", "two"}, "toys": {"two"}, strings.Repeat("x", 101): nil, "": nil} {
		found, err := st.SpecDocuments(t.Context(), slug, []string{space, "nothing"})
		if err != nil {
			t.Fatal(err)
		}
		var hashes []string
		for _, in := range found {
			hashes = append(hashes, in.Hashes...)
		}
		if !slices.Equal(hashes, want) {
			t.Errorf("%q is named by %q, want %q", slug, hashes, want)
		}
	}
	if _, err := conn.Exec(t.Context(), "delete from documents where space_id = $1", space); err != nil {
		t.Fatal(err)
	}
	if found, err := st.SpecDocuments(t.Context(), "pets", []string{space}); err != nil || len(found) != 0 {
		t.Error(found, err)
	}
}

// TestDocumentsWithin reads documents in batches of a limited size. Each batch must have at least one document.
func TestDocumentsWithin(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	st, conn := storetest.Open(t, url), storetest.Connect(t, url)
	space := storetest.NewTenant(t, st, "acme").Space.ID
	for hash, size := range map[string]int{"a": 100, "b": 100, "c": 500, "d": 100} {
		insert := "insert into documents (space_id, hash, content) values ($1, $2, $3)"
		if _, err := conn.Exec(t.Context(), insert, space, hash,
			[]byte(`{"nodes":[]}`+strings.Repeat(" ", size-12))); err != nil {
			t.Fatal(err)
		}
	}
	var reads []int
	for left := []string{"a", "", "b", "c", "", "d"}; len(left) > 0; {
		texts, read, err := st.DocumentsWithin(t.Context(), space, left, 250)
		if err != nil {
			t.Fatal(err)
		}
		for _, hash := range left[:read] {
			if _, there := texts[hash]; there != (hash != "") {
				t.Errorf("document %q was read: %v", hash, there)
			}
		}
		reads, left = append(reads, read), left[read:]
	}
	if want := []int{3, 1, 2}; !slices.Equal(reads, want) {
		t.Errorf("%v documents at once, want %v", reads, want)
	}
	if _, _, err := st.DocumentsWithin(t.Context(), space, []string{"missing"}, 1); err == nil {
		t.Error("a missing document was read")
	}
}
