package merge_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/content"
	"github.com/octavo-docs/octavo/store/content/contenttest"
	"github.com/octavo-docs/octavo/store/content/keys"
	"github.com/octavo-docs/octavo/store/content/markdown"
	"github.com/octavo-docs/octavo/store/content/merge"
)

// cases reads the sections of each case.
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

// versionText shows a version on one line.
func versionText(version any) string {
	switch version := version.(type) {
	case nil:
		return "-"
	case *schema.Node:
		return strings.Join(strings.Fields(content.Plain(schema.Document{Nodes: []schema.Node{*version}})), " ")
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
		case strings.HasPrefix(c.Path, "records."), strings.HasPrefix(c.Path, "definition."): // Without the titles of the columns.
			theirs = strings.TrimPrefix(theirs, "A B ")
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

// TestDocumentCases reads the cases with keys, as the API stores documents, and without, as older ones are stored.
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
	// A value that the grammar does not allow in its place is a conflict of the whole document.
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

// FuzzDocuments merges any three texts.
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
