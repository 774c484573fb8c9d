package translation

import (
	"slices"
	"strings"
	"testing"
)

func TestTerms(t *testing.T) {
	t.Parallel()
	g := NewGlossary([]Term{
		{"space", "Bereich"}, {"change request", "Änderungsantrag"}, {"request", "Anfrage"}, {"C++", "C++"}, {".NET", ".NET"}, {"空間", "space"},
		{"x", "X"}, {" Space ", "Raum"}, {"nothing", ""}, {"ÄÖ", "ao"},
	})
	for text, want := range map[string]string{
		"A SPACE holds pages.":                "SPACE",
		"Spaces and aerospace":                "",
		"A change request, a request":         "change request|request",
		"a change\nrequest":                   "request",
		"Write C++ and C++11, or .NET":        "C++|C++|.NET",
		"この空間です":                              "空間",
		"xy x":                                "x",
		"äö!":                                 "äö",
		"nothing":                             "",
		"":                                    "",
		"space" + string(hole) + "space_name": "space",
	} {
		var got []string
		for _, f := range g.find(text) {
			got = append(got, string([]rune(text)[f.from:f.to]))
		}
		if strings.Join(got, "|") != want {
			t.Errorf("%q has %q, not %q", text, got, want)
		}
	}
	if terms := g.In("space, Space and request"); !slices.Equal(terms, []Term{{"Space", "Raum"}, {"request", "Anfrage"}}) {
		t.Errorf("terms %v", terms)
	}
}

func TestMissing(t *testing.T) {
	t.Parallel()
	terms := []Term{{"space", "Bereich"}, {"page", "Seite"}}
	if lost := missing(terms, `Die <b id="1">bereich</b>e und Seiten`); lost != nil {
		t.Errorf("lost %v", lost)
	}
	if lost := missing(terms, "Der Raum und die Seite"); !slices.Equal(lost, terms[:1]) {
		t.Errorf("lost %v", lost)
	}
}

func TestKeys(t *testing.T) {
	t.Parallel()
	w := Work{From: "en", To: "de", Instructions: "Formal.", Glossary: NewGlossary([]Term{{"space", "Bereich"}})}
	same, held, free := w, w.Segment("A space."), w.Segment("A page.")
	if same.Segment("A space.").Key != held.Key || held.Key == free.Key || len(held.Key) != 43 {
		t.Error("keys are not those of the sources")
	}
	w.Glossary = NewGlossary([]Term{{"space", "Raum"}, {"team", "Team"}})
	if w.Segment("A space.").Key == held.Key || w.Segment("A page.").Key != free.Key {
		t.Error("a change of the glossary must touch the segments with the term, and no others")
	}
	for name, change := range map[string]func(*Work){
		"from": func(w *Work) { w.From = "fr" }, "to": func(w *Work) { w.To = "fr" }, "instructions": func(w *Work) { w.Instructions = "Brief." },
	} {
		other := same
		change(&other)
		if other.Segment("A page.").Key == free.Key {
			t.Errorf("%s is not part of the key", name)
		}
	}
}
