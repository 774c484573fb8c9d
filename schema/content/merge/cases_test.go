package merge_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content"
	"github.com/octavo-docs/octavo/schema/content/contenttest"
	"github.com/octavo-docs/octavo/schema/content/keys"
	"github.com/octavo-docs/octavo/schema/content/markdown"
	"github.com/octavo-docs/octavo/schema/content/merge"
)

// cases returns the cases of testdata/documents.txt. Each case has its sections by name.
func cases(tb testing.TB) map[string]map[string]string {
	tb.Helper()
	text, err := os.ReadFile("testdata/documents.txt")
	if err != nil {
		tb.Fatal(err)
	}
	all := map[string]map[string]string{}
	for _, part := range strings.Split("\n"+string(text), "\n== ")[1:] {
		name, rest, _ := strings.Cut(part, "\n")
		all[name] = map[string]string{}
		for _, section := range strings.Split("\n"+rest, "\n-- ")[1:] {
			title, body, _ := strings.Cut(section, "\n")
			all[name][title] = strings.TrimSpace(body)
		}
	}
	return all
}

// versionText returns a version of a conflict in one line.
func versionText(version any) string {
	switch version := version.(type) {
	case nil:
		return "-"
	case *schema.Node:
		return strings.Join(strings.Fields(content.Plain(schema.Document{Nodes: []schema.Node{*version}})), " ")
	case schema.Document:
		return strings.Join(strings.Fields(content.Plain(version)), " ")
	}
	encoded, _ := json.Marshal(version, json.Deterministic(true))
	return string(encoded)
}

func conflictText(found []merge.Conflict, d schema.Document) string {
	var lines []string
	for _, c := range found {
		ours, theirs := versionText(c.Ours), versionText(c.Theirs)
		switch {
		case c.Kind == merge.KindPlace:
			for _, n := range d.Nodes {
				if n.Key == c.Block {
					ours, theirs = versionText(&n), versionText(&n)
				}
			}
		// the titles of the columns are left out
		case strings.HasPrefix(c.Path, "records."), strings.HasPrefix(c.Path, "definition."):
			ours, theirs = strings.TrimPrefix(ours, "A B "), strings.TrimPrefix(theirs, "A B ")
		}
		lines = append(lines, fmt.Sprintf("%s: %s | %s", strings.TrimSpace(c.Kind+" "+c.Path), ours, theirs))
	}
	return strings.Join(lines, "\n")
}

func read(tb testing.TB, text string, before *schema.Document) schema.Document {
	tb.Helper()
	d, err := markdown.Read(text)
	if err != nil {
		tb.Fatal(err)
	}
	if before != nil {
		keys.Assign(&d, before)
	}
	return d
}

// TestDocumentCases merges the documents of each case with keys, because the API stores documents with keys. It also
// merges them without keys, because older documents are stored without keys.
func TestDocumentCases(t *testing.T) {
	t.Parallel()
	for name, c := range cases(t) {
		for _, keyed := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s/%v", name, keyed), func(t *testing.T) {
				t.Parallel()
				base := read(t, c["base"], nil)
				var before *schema.Document
				if keyed {
					keys.Assign(&base, nil)
					before = &base
				}
				ours, theirs := read(t, c["ours"], before), read(t, c["theirs"], before)
				merged, found := merge.Documents(base, ours, theirs, nil)
				if got := markdown.Write(merged); got != c["want"] {
					t.Errorf("got\n%s\nwant\n%s", got, c["want"])
				}
				if got := conflictText(found, merged); got != c["conflicts"] {
					t.Errorf("conflicts\n%s\nwant\n%s", got, c["conflicts"])
				}
				choices := merge.Choices{}
				for _, conflict := range found {
					if conflict.Block == "" || conflict.ID == "" {
						t.Errorf("%+v names nothing", conflict)
					}
					choices[conflict.ID] = merge.Choice{Take: merge.TakeTheirs}
				}
				if len(found) == 0 {
					return
				}
				chosen, resolved := merge.Documents(base, ours, theirs, choices)
				if got := markdown.Write(chosen); got != c["theirs chosen"] || len(merge.Open(resolved)) > 0 {
					t.Errorf("theirs chosen\n%s\nwant\n%s", got, c["theirs chosen"])
				}
			})
		}
	}
}

func TestValues(t *testing.T) {
	t.Parallel()
	base := read(t, "one two three\n\n{% hint style=\"info\" %}\na\n{% endhint %}", nil)
	keys.Assign(&base, nil)
	ours, theirs := read(t, "one 2 three\n\n{% hint style=\"danger\" %}\na\n{% endhint %}", &base), read(t, "one II three\n\n{% hint style=\"warning\" %}\na\n{% endhint %}", &base)
	_, found := merge.Documents(base, ours, theirs, nil)
	if len(found) != 2 {
		t.Fatalf("%+v", found)
	}
	text, style := found[0], found[1]
	if text.Path != "text" {
		text, style = style, text
	}
	for _, c := range []struct {
		conflict merge.Conflict
		choice   merge.Choice
		fine     bool
	}{
		{text, merge.Choice{Take: "value", Value: []byte(`{"type":"paragraph","nodes":[{"leaves":[{"text":"one zwei three"}]}]}`)}, true},
		{text, merge.Choice{Take: "value", Value: []byte(`{"type":"paragraph","nodes":[{"type":"paragraph"}]}`)}, false},
		{text, merge.Choice{Take: "value", Value: []byte(`[]`)}, false},
		{text, merge.Choice{Take: "value"}, false},
		{text, merge.Choice{Take: "both"}, false},
		{text, merge.Choice{}, false},
		{style, merge.Choice{Take: "value", Value: []byte(`"success"`)}, true},
	} {
		problems := c.conflict.Problems(c.choice)
		if (len(problems) == 0) != c.fine {
			t.Errorf("%+v: %+v", c.choice, problems)
		}
		merged, resolved := merge.Documents(base, ours, theirs, merge.Choices{c.conflict.ID: c.choice})
		want := 1
		if !c.fine {
			want = 2
		}
		if len(merge.Open(resolved)) != want || len(merged.Problems("")) > 0 {
			t.Errorf("%+v leaves %d", c.choice, len(merge.Open(resolved)))
		}
	}
	merged, _ := merge.Documents(base, ours, theirs, merge.Choices{
		text.ID:  {Take: "value", Value: []byte(`{"type":"paragraph","nodes":[{"leaves":[{"text":"one zwei three"}]}]}`)},
		style.ID: {Take: "value", Value: []byte(`"success"`)},
	})
	if got := markdown.Write(merged); got != "one zwei three\n\n{% hint style=\"success\" %}\na\n{% endhint %}" {
		t.Errorf("%s", got)
	}
	// The grammar does not allow this value at its place, so the whole document is in conflict.
	merged, resolved := merge.Documents(base, ours, theirs, merge.Choices{style.ID: {Take: "value", Value: []byte(`"loud"`)}})
	if len(resolved) != 1 || resolved[0].Kind != merge.KindDocument || len(merged.Problems("")) > 0 {
		t.Errorf("%+v", resolved)
	}
}

func TestEveryKindMerges(t *testing.T) {
	t.Parallel()
	base := contenttest.EveryKind(t)
	keys.Assign(&base, nil)
	ours, theirs := base, base
	note := func(text string) schema.Node { return schema.Block("paragraph", schema.Text(text)) }
	ours.Nodes = append([]schema.Node{note("ours")}, base.Nodes...)
	theirs.Nodes = append(append([]schema.Node{}, base.Nodes...), note("theirs"))
	for _, d := range []*schema.Document{&ours, &theirs} {
		d.Normalize()
		keys.Assign(d, &base)
	}
	merged, found := merge.Documents(base, ours, theirs, nil)
	want := base
	want.Nodes = append(append([]schema.Node{ours.Nodes[0]}, base.Nodes...), theirs.Nodes[len(theirs.Nodes)-1])
	if diff := cmp.Diff(want, merged); len(found) > 0 || diff != "" {
		t.Errorf("%+v (-want +got)\n%s", found, diff)
	}
}

// FuzzDocuments merges the documents of three texts.
func FuzzDocuments(f *testing.F) {
	for _, c := range cases(f) {
		f.Add(c["base"], c["ours"], c["theirs"])
	}
	f.Fuzz(func(t *testing.T, base, ours, theirs string) {
		var documents [3]schema.Document
		for i, text := range []string{base, ours, theirs} {
			d, err := markdown.Read(text)
			if err != nil {
				t.Skip()
			}
			documents[i] = d
		}
		merged, found := merge.Documents(documents[0], documents[1], documents[2], nil)
		if problems := merged.Problems(""); len(problems) > 0 {
			t.Fatalf("%+v", problems)
		}
		choices := merge.Choices{}
		for _, c := range found {
			choices[c.ID] = merge.Choice{Take: merge.TakeTheirs}
		}
		chosen, again := merge.Documents(documents[0], documents[1], documents[2], choices)
		if problems := chosen.Problems(""); len(problems) > 0 {
			t.Fatalf("%+v", problems)
		}
		for _, c := range found {
			if c.Kind == merge.KindDocument && len(merge.Open(again)) > 0 {
				t.Fatalf("%+v", again)
			}
		}
	})
}

// TestContestedValues resolves conflicts about several blocks with a value. For lines of code, the value is a block
// with the lines. For other blocks, it is a document. Conflicts about records allow no value.
func TestContestedValues(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		base, ours, theirs, value, want string
	}{
		"lines": {
			"```go\na := 1\nb := 2\nkeep()\n```", "```go\nx(one)\ny(two)\nkeep()\n```", "```go\nfor {\n}\nz(\"three\")\nkeep()\n```",
			`{"type":"code","nodes":[{"type":"code-line","nodes":[{"leaves":[{"text":"chosen()"}]}]}]}`, "```go\nchosen()\nkeep()\n```",
		},
		"another kind": {
			"```go\na := 1\nb := 2\n```", "```go\nx(one)\ny(two)\n```", "```go\nfor {\n}\nz(\"three\")\n```",
			`{"type":"paragraph","nodes":[{"leaves":[{"text":"no line"}]}]}`, "",
		},
		"near-equal": {
			"a", "a\n\nInstall it with npm now.", "a\n\nInstall it with npm then.",
			`{"type":"paragraph","nodes":[{"leaves":[{"text":"Install it."}]}]}`, "a\n\nInstall it.",
		},
		"blocks": {
			"a\n\n```\none\n```\n\nb", "a\n\nour words\n\nb", "a\n\ntheir text\n\nof two\n\nb",
			`{"nodes":[{"type":"paragraph","nodes":[{"leaves":[{"text":"one"}]}]},{"type":"divider"}]}`, "a\n\none\n\n---\n\nb",
		},
		"no blocks": {"a\n\n```\none\n```\n\nb", "a\n\nour words\n\nb", "a\n\ntheir text\n\nof two\n\nb", `{"nodes":[]}`, "a\n\nb"},
		"edited and replaced": {
			"a\n\n```\none\ntwo\n```\n\nb", "a\n\n```\none\n2\n```\n\nb", "a\n\ntheir text\n\nof two\n\nb",
			`{"nodes":[{"type":"paragraph","nodes":[{"leaves":[{"text":"chosen"}]}]}]}`, "a\n\nchosen\n\nb",
		},
		"record": {
			"| A | B |\n| - | - |\n| a | b |", "| A | B |\n| - | - |\n| a | b |\n| how long is it | now |",
			"| A | B |\n| - | - |\n| a | b |\n| how long is it | then |", `"x"`, "",
		},
	} {
		base := read(t, c.base, nil)
		keys.Assign(&base, nil)
		ours, theirs := read(t, c.ours, &base), read(t, c.theirs, &base)
		_, found := merge.Documents(base, ours, theirs, nil)
		if len(found) != 1 || found[0].Kind != merge.KindEdit {
			t.Errorf("%s: conflicts %+v", name, found)
			continue
		}
		choice := merge.Choice{Take: "value", Value: []byte(c.value)}
		merged, after := merge.Documents(base, ours, theirs, merge.Choices{found[0].ID: choice})
		if problems := merged.Problems(""); len(problems) > 0 {
			t.Errorf("%s: %+v", name, problems)
		}
		if got := markdown.Write(merged); c.want != "" && (got != c.want || len(merge.Open(after)) > 0) {
			t.Errorf("%s: got\n%s\nwant\n%s\n%+v", name, got, c.want, after)
		}
		if c.want == "" && len(merge.Open(after)) != 1 {
			t.Errorf("%s: a value that fits nowhere resolves the conflict", name)
		}
	}
}
