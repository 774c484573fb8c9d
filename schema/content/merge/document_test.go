package merge

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content/keys"
)

func sound(t *rapid.T, what string, d schema.Document) {
	t.Helper()
	if problems := d.Problems(""); len(problems) > 0 {
		t.Fatalf("%s: %+v", what, problems)
	}
	if !keys.Complete(d) {
		t.Fatalf("%s: keys or anchors are missing or twice", what)
	}
}

// TestDocumentsLoseNothing generates three random documents, and follows each word through the merge.
func TestDocumentsLoseNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		next := 0
		base := writer{t, &next, "base"}.document()
		ours := writer{t, &next, "ours"}.edit(base, 4)
		theirs := writer{t, &next, "theirs"}.edit(base, 4)
		for _, d := range []schema.Document{base, ours, theirs} {
			sound(t, "drawn", d)
		}
		merged, found := Documents(base, ours, theirs, nil)
		sound(t, "merged", merged)
		for _, law := range []struct {
			name             string
			base, ours, mine schema.Document
			want             schema.Document
		}{
			{"only ours", base, ours, base, ours}, {"only theirs", base, base, theirs, theirs}, {"both the same", base, ours, ours, ours},
		} {
			if got, conflicts := Documents(law.base, law.ours, law.mine, nil); jsonOf(got) != jsonOf(law.want) || len(conflicts) > 0 {
				t.Fatalf("%s: %s", law.name, cmp.Diff(law.want, got))
			}
		}
		inBase, inOurs, inTheirs, inMerged := wordsIn(base), wordsIn(ours), wordsIn(theirs), wordsIn(merged)
		reported := wordsIn(found)
		for word, n := range inMerged {
			if n > inBase[word]+inOurs[word]+inTheirs[word] || n > 1 && inOurs[word] < 2 && inTheirs[word] < 2 {
				t.Fatalf("%s is there %d times%s", word, n, shortOf(base, ours, theirs, merged, found))
			}
		}
		for _, side := range []map[string]int{inOurs, inTheirs} {
			for word := range side {
				kept := inBase[word] == 0 || inOurs[word] > 0 && inTheirs[word] > 0
				switch {
				case kept && inMerged[word] == 0 && reported[word] == 0:
					t.Fatalf("%s is lost%s", word, shortOf(base, ours, theirs, merged, found))
				case !kept && inMerged[word] > 0 && reported[word] == 0:
					t.Fatalf("%s was deleted%s", word, shortOf(base, ours, theirs, merged, found))
				}
			}
		}
		for word := range inOurs {
			if inBase[word] == 0 && inMerged[word] == 0 {
				t.Fatalf("%s of ours is not in the result%s", word, shortOf(base, ours, theirs, merged, found))
			}
		}
		again, foundAgain := Documents(base, ours, theirs, nil)
		if jsonOf(again) != jsonOf(merged) || jsonOf(foundAgain) != jsonOf(found) {
			t.Fatal("the merge depends on more than its input")
		}
		resolve(t, base, ours, theirs)
	})
}

// resolve chooses `theirs` in every conflict, until no conflict is open.
func resolve(t *rapid.T, base, ours, theirs schema.Document) {
	t.Helper()
	choices := Choices{}
	for range 6 {
		merged, found := Documents(base, ours, theirs, choices)
		sound(t, "resolved", merged)
		seen := map[string]bool{}
		for _, c := range found {
			if seen[c.ID] {
				t.Fatalf("two conflicts are %+v", c)
			}
			seen[c.ID] = true
			if problems := c.Problems(Choice{Take: TakeTheirs}); len(problems) > 0 {
				t.Fatalf("%+v", problems)
			}
			choices[c.ID] = Choice{Take: TakeTheirs}
		}
		if len(Open(found)) > 0 {
			continue
		}
		inBase, inMerged := wordsIn(base), wordsIn(merged)
		for word := range wordsIn(theirs) {
			if inBase[word] == 0 && inMerged[word] == 0 {
				t.Fatalf("%s was chosen%s", word, shortOf(base, ours, theirs, merged, found))
			}
		}
		return
	}
	t.Fatal("conflicts come back")
}

// TestDisjointEdits edits different sections on the two sides. The merge must have no conflict, whichever side is
// merged first.
func TestDisjointEdits(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		next := 0
		base := writer{t, &next, "base"}
		n := rapid.IntRange(2, 4).Draw(t, "requests")
		var parts [][]schema.Node
		join := func(parts [][]schema.Node) schema.Document {
			d := schema.NewDocument()
			for i, part := range parts {
				mark := schema.Block("divider")
				mark.Key = fmt.Sprint("mark", i)
				d.Nodes = append(append(d.Nodes, part...), mark)
			}
			d.Normalize()
			return d
		}
		for range n {
			parts = append(parts, base.blocks("", 2, 0, 3))
		}
		d := join(parts)
		keys.Assign(&d, nil)
		parts = nil
		for _, block := range d.Nodes {
			if len(parts) == 0 {
				parts = append(parts, nil)
			}
			if block.Type == "divider" {
				parts = append(parts, nil)
				continue
			}
			parts[len(parts)-1] = append(parts[len(parts)-1], block)
		}
		parts = parts[:n]
		requests := make([]schema.Document, n)
		for i := range requests {
			mine := make([][]schema.Node, n)
			copy(mine, parts)
			edited := writer{t, &next, "ours"}.edit(schema.NewDocument(parts[i]...), 3)
			mine[i] = edited.Nodes
			requests[i] = join(mine)
			keys.Assign(&requests[i], &d)
			sound(t, "request", requests[i])
		}
		var first string
		for _, order := range [][]int{rapid.Permutation(upTo(n)).Draw(t, "order"), upTo(n)} {
			main := d
			for _, i := range order {
				merged, found := Documents(d, main, requests[i], nil)
				if len(found) > 0 {
					t.Fatalf("%s", jsonOf(found))
				}
				swapped, _ := Documents(d, requests[i], main, nil)
				if texts(swapped) != texts(merged) {
					t.Fatal(cmp.Diff(merged, swapped))
				}
				main = merged
			}
			if first == "" {
				first = texts(main)
			} else if first != texts(main) {
				t.Fatalf("%s\n%s", first, texts(main))
			}
		}
	})
}

func upTo(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

// texts returns the document without its keys and anchors. If both sides have made the same key or anchor, one of the
// two must change, so they may differ.
func texts(d schema.Document) string {
	d = copyOf(d)
	var bare func(nodes []schema.Node)
	bare = func(nodes []schema.Node) {
		for i := range nodes {
			nodes[i].Key, nodes[i].Meta = "", nil
			bare(nodes[i].Nodes)
			bare(nodes[i].Fragments)
		}
	}
	bare(d.Nodes)
	return jsonOf(d)
}
