package content_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/octavo-docs/octavo/api/apitest"
	"github.com/octavo-docs/octavo/schema"
)

// TestGlossaryFollowsItsModel applies random changes to the glossary of an API server and to a map. After each change,
// both have equal entries. If one operation of a change is refused, the change has no effect.
func TestGlossaryFollowsItsModel(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	s := apitest.NewSupport(h)
	model := map[string]map[string]string{}
	rapid.Check(t, func(rt *rapid.T) {
		next := maps.Clone(model)
		terms := rapid.MapOfN(rapid.SampledFrom([]string{"en", "fr", "pt-br"}), rapid.StringMatching(`[a-zé "\\]{1,8}`), 0, 3)
		ids := append(slices.Sorted(maps.Keys(model)), h.Theirs.Organization.ID)
		type operation struct {
			Type         string            `json:"type"`
			ID           string            `json:"id,omitempty"`
			Translations map[string]string `json:"translations,omitempty"`
		}
		operations := []operation{}
		var inserted []map[string]string
		refused := -1
		for i := range rapid.IntRange(0, 5).Draw(rt, "n") {
			o := operation{Type: rapid.SampledFrom(schema.GlossaryOperations()).Draw(rt, "type")}
			if o.Type != schema.GlossaryInsert {
				o.ID = rapid.SampledFrom(ids).Draw(rt, "id")
			}
			if o.Type != schema.GlossaryDelete {
				// the encoder omits an empty map; another test covers this
				o.Translations = terms.Filter(func(m map[string]string) bool { return len(m) > 0 }).Draw(rt, "terms")
			}
			operations = append(operations, o)
			switch _, known := next[o.ID]; {
			case o.Type == schema.GlossaryInsert:
				inserted = append(inserted, o.Translations)
			case o.Type == schema.GlossaryDelete:
				delete(next, o.ID)
			case known:
				next[o.ID] = o.Translations
			case refused < 0:
				refused = i
			}
		}
		a := h.Do("PUT", s.Org+"/translations-glossary", s.Token, map[string]any{"operations": operations})
		if refused >= 0 {
			e := h.WantError(a, 400)
			if want := fmt.Sprintf("operations[%d].id", refused); e.Details[0].Field != want {
				rt.Fatalf("%s, want %s", e.Details[0].Field, want)
			}
			next, inserted = maps.Clone(model), nil
		} else if a.Status != 204 {
			rt.Fatalf("%d %s", a.Status, a.Body)
		}
		for _, entry := range s.Glossary("?limit=1000") {
			if _, known := next[entry.ID]; !known {
				// new entries are listed in the order in which they were inserted
				if len(inserted) == 0 {
					rt.Fatalf("%+v is in no model", entry)
				}
				next[entry.ID], inserted = inserted[0], inserted[1:]
			}
			if diff := cmp.Diff(next[entry.ID], entry.Translations); diff != "" {
				rt.Fatal(diff)
			}
		}
		if got := len(s.Glossary("?limit=1000")); got != len(next) || len(inserted) > 0 {
			rt.Fatalf("%d entries, want %d", got, len(next))
		}
		model = next
	})
}

// TestGlossaryInParallel changes several entries concurrently, in opposite orders. Each change is atomic.
func TestGlossaryInParallel(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	s := apitest.NewSupport(h)
	put := func(operations ...map[string]any) {
		if a := h.Do("PUT", s.Org+"/translations-glossary", s.Token, map[string]any{"operations": operations}); a.Status != 204 {
			t.Errorf("%d %s", a.Status, a.Body)
		}
	}
	insert := map[string]any{"type": "insert", "translations": map[string]string{"en": "0"}}
	put(insert, insert, insert)
	entries := s.Glossary("")
	var wait sync.WaitGroup
	for worker := range 6 {
		wait.Go(func() {
			var operations []map[string]any
			for _, e := range entries {
				operations = append(operations, map[string]any{"type": "update", "id": e.ID, "translations": map[string]string{"en": fmt.Sprint(worker)}})
			}
			if worker%2 == 0 {
				slices.Reverse(operations)
			}
			put(operations...)
		})
	}
	wait.Wait()
	after := s.Glossary("")
	for _, e := range after {
		if e.Translations["en"] != after[0].Translations["en"] {
			t.Errorf("changes are mixed: %+v", after)
		}
	}
}

func TestGlossaryOrder(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	s := apitest.NewSupport(h)
	var operations []map[string]any
	for _, terms := range []map[string]string{
		{"en": "page", "fr": "Zone"}, {"fr": "abc"}, {"en": "Apple"}, {"en": "apple", "fr": "abc"}, {"de": "Seite"}, {},
	} {
		operations = append(operations, map[string]any{"type": "insert", "translations": terms})
	}
	h.Do("PUT", s.Org+"/translations-glossary", s.Token, map[string]any{"operations": operations})
	for query, want := range map[string][]string{
		"?":           {"page", "", "Apple", "apple", "", ""},
		"?orderBy=en": {"Apple", "apple", "page", "", "", ""},
		"?orderBy=fr": {"", "apple", "page", "Apple", "", ""},
	} {
		var whole, paged []string
		for _, e := range s.Glossary(query) {
			whole = append(whole, e.Translations["en"])
		}
		for page := ""; ; {
			var got schema.List[schema.GlossaryEntry]
			if err := json.Unmarshal(h.Do("GET", s.Org+"/translations-glossary"+query+"&limit=1&page="+page, s.Token, nil).Body, &got); err != nil {
				t.Fatal(err)
			}
			paged = append(paged, got.Items[0].Translations["en"])
			if got.Next == nil {
				break
			}
			page = got.Next.Page
		}
		if !slices.Equal(whole, want) || !slices.Equal(paged, want) {
			t.Errorf("%s: %q, in pages %q, want %q", query, whole, paged, want)
		}
	}
	one := s.Glossary("")[0]
	if diff := cmp.Diff(one, apitest.Get[schema.GlossaryEntry](s, apitest.GlossaryShape, "/translations-glossary/"+one.ID)); diff != "" {
		t.Error(diff)
	}
	h.WantError(h.Do("GET", s.Org+"/translations-glossary/nothing", s.Token, nil), 404)
}

func TestBadGlossary(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	s := apitest.NewSupport(h)
	before := h.Rows()
	for body, field := range map[string]string{
		`{}`:                                 "operations",
		`{"operations":5}`:                   "operations",
		`{"operations":[5]}`:                 "operations[0]",
		`{"operations":[{}]}`:                "operations[0].type",
		`{"operations":[{"type":"merge"}]}`:  "operations[0].type",
		`{"operations":[{"type":"insert"}]}`: "operations[0].translations",
		`{"operations":[{"type":"insert","translations":{"en":"ok"}},{"type":"update","translations":{}}]}`:           "operations[1].id",
		`{"operations":[{"type":"insert","translations":{"en":"ok"}},{"type":"update","id":"no","translations":{}}]}`: "operations[1].id",
		`{"operations":[{"type":"update","id":"x"}]}`:                                                                 "operations[0].translations",
		`{"operations":[{"type":"delete"}]}`:                                                                          "operations[0].id",
		`{"operations":[{"type":"insert","translations":{"en":""}}]}`:                                                 "operations[0].translations.en",
		`{"operations":[{"type":"insert","translations":{"en":"a\nb"}}]}`:                                             "operations[0].translations.en",
		`{"operations":[{"type":"insert","translations":{"en":"a\rb"}}]}`:                                             "operations[0].translations.en",
		`{"operations":[{"type":"insert","translations":{"in English":"space"}}]}`:                                    "operations[0].translations.in English",
		`{"operations":[{"type":"insert","translations":{"":"space"}}]}`:                                              "operations[0].translations",
	} {
		e := h.WantError(h.Do("PUT", s.Org+"/translations-glossary", s.Token, body), 400)
		if len(e.Details) == 0 || e.Details[0].Field != field {
			t.Errorf("%s: %+v", body, e)
		}
	}
	if after := h.Rows(); !cmp.Equal(before, after) {
		t.Error(cmp.Diff(before, after))
	}
}
