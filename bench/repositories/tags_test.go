package main

import (
	"strings"
	"testing"
)

// TestTags checks that the run fails for a tag without an exception, and for an exception that no page needs.
func TestTags(t *testing.T) {
	t.Parallel()
	leaf := func(text string, marks ...any) map[string]any {
		return map[string]any{"nodes": []any{map[string]any{"leaves": []any{
			map[string]any{"object": "leaf", "text": text, "marks": marks},
		}}}}
	}
	code := map[string]any{"type": "code"}
	const list = "# comment\na docs | p | <X> | meant\nb | p | <Y> | of another repository\n"
	for _, c := range []struct {
		name     string
		page     page
		document map[string]any
		fails    string
	}{
		{"excepted", page{Path: "p"}, leaf("a <X> b"), ""},
		{"not needed", page{Path: "p"}, leaf("a"), "a docs | p | <X>"},
		{"on another page", page{Path: "q"}, leaf("<X>"), "sees a tag: a docs | q | <X>"},
		{"in code", page{Path: "p", Title: "<X>"}, leaf("<b>", code), ""},
		{"in a title", page{Path: "p", Title: "<X> {: .a}"}, leaf(""), "{: .a}"},
		{"in a description", page{Path: "p", Description: "<X> {% a %}"}, leaf(""), "{% a %}"},
		{"an id", page{Path: "p", Title: "<X>"}, leaf("{#a}"), "{#a}"},
		{"a directive", page{Path: "p", Title: "<X>"}, leaf("{{#a b}}"), "{{#a b}}"},
		{"a comment", page{Path: "p", Title: "<X>"}, leaf("{/* a */}"), "{/*"},
		{"no tags", page{Path: "p", Title: "<X>"}, leaf("a < b {c} {{.d}} 1 <2> x"), ""},
	} {
		excepted, err := exceptionsOf(list)
		if err != nil {
			t.Fatal(err)
		}
		r := round{source: "/mirror/a/repo", folder: "docs", excepted: excepted}
		r.lookAt(c.page, c.document)
		err = r.checkTags()
		if (err != nil) != (c.fails != "") || err != nil && !strings.Contains(err.Error(), c.fails) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	want := exception{"a", "p", "<A | B>", "it has a bar"}
	if all, err := exceptionsOf("a | p | <A | B> | it has a bar\n"); err != nil || len(all) != 1 || all[0] != want {
		t.Errorf("%v, %v", all, err)
	}
	if _, err := exceptionsOf("a | b | c\n"); err == nil {
		t.Error("an exception without a reason is taken")
	}
	if _, err := exceptionsOf(exceptionList); err != nil {
		t.Error(err)
	}
}
