package merge

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content/keys"
)

// TestNothingIsSaidTwice generates random documents. Both sides add equal or nearly equal texts to the same list, at
// the same place or at different places. Such a text is a new block. Or it replaces the text of a block, or a block
// that the other side has edited. No word may be in the result twice, before and after the conflicts are resolved. A
// word that a side added must be in the result or in a conflict. A word that both sides kept must be there too.
func TestNothingIsSaidTwice(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		next := 0
		base := writer{t, &next, "base"}.document()
		drafts := [2]schema.Document{copyOf(base), copyOf(base)}
		writers := [2]writer{{t, &next, "ours"}, {t, &next, "theirs"}}
		for i, w := range writers {
			for range w.between(0, 2) {
				w.step(&drafts[i])
			}
		}
		for range writers[0].between(1, 3) {
			sayBoth(writers, &drafts)
		}
		for i := range drafts {
			drafts[i].Normalize()
			keys.Assign(&drafts[i], &base)
			sound(t, "drawn", drafts[i])
		}
		ours, theirs := drafts[0], drafts[1]
		choices := Choices{}
		for range 6 {
			merged, found := Documents(base, ours, theirs, choices)
			sound(t, "merged", merged)
			inBase, inOurs, inTheirs := wordsIn(base), wordsIn(ours), wordsIn(theirs)
			inMerged, reported := wordsIn(merged), wordsIn(found)
			for word, n := range inMerged {
				if n > max(inOurs[word], inTheirs[word], 1) {
					t.Fatalf("%s is there %d times%s", word, n, shortOf(base, ours, theirs, merged, found))
				}
			}
			for _, side := range []map[string]int{inOurs, inTheirs} {
				for word := range side {
					kept := inBase[word] == 0 || inOurs[word] > 0 && inTheirs[word] > 0
					if kept && inMerged[word] == 0 && reported[word] == 0 {
						t.Fatalf("%s is lost%s", word, shortOf(base, ours, theirs, merged, found))
					}
				}
			}
			if len(Open(found)) == 0 {
				return
			}
			for _, c := range found {
				choices[c.ID] = Choice{Take: TakeTheirs}
			}
		}
		t.Fatal("conflicts come back")
	})
}

// sayBoth adds a random text to the same list of both drafts. The text may differ in one word between the drafts. In
// some cases, sayBoth calls moveEdited instead.
func sayBoth(writers [2]writer, drafts *[2]schema.Document) {
	w := writers[0]
	mine, other := map[string]listAt{}, map[string]listAt{}
	keyedLists(&drafts[0].Nodes, "", "", mine)
	keyedLists(&drafts[1].Nodes, "", "", other)
	var common []string
	for key := range mine {
		if _, ok := other[key]; ok {
			common = append(common, key)
		}
	}
	slices.Sort(common)
	key := rapid.SampledFrom(common).Draw(w.t, "list")
	lists := [2]listAt{mine[key], other[key]}
	const least = 7
	if at := w.between(0, len(*lists[0].list)); at < len(*lists[0].list) && w.between(0, 2) == 0 {
		moveEdited(writers, lists, at)
		return
	}
	var words [2][]string
	for range w.between(least, least+4) {
		words[0] = append(words[0], w.word())
	}
	words[1] = slices.Clone(words[0])
	if lists[0].parent != "code" && w.between(0, 1) == 0 {
		words[1][w.between(0, least-1)] = writers[1].word()
	}
	for i, at := range lists {
		said := sentence(at.parent, words[i])
		place := writers[i].between(0, len(*at.list))
		rewrite := writers[i].between(0, 3) == 0 && said.Type != "list-item"
		if rewrite && place < len(*at.list) && (*at.list)[place].Type == said.Type {
			(*at.list)[place].Nodes = said.Nodes
			continue
		}
		*at.list = slices.Insert(*at.list, place, said)
	}
}

func sentence(parent string, words []string) schema.Node {
	text := schema.Text(strings.Join(words, " "))
	switch parent {
	case "code":
		return schema.Block("code-line", text)
	case "list-unordered":
		return schema.Block("list-item", schema.Block("paragraph", text))
	}
	return schema.Block("paragraph", text)
}

// moveEdited edits a paragraph on one side. On the other side, it deletes the paragraph and writes its text at another
// place of the list.
func moveEdited(writers [2]writer, lists [2]listAt, at int) {
	was := (*lists[0].list)[at]
	words := strings.Fields(saidBy(&was))
	from := slices.IndexFunc(*lists[1].list, func(n schema.Node) bool { return n.Key == was.Key })
	const least = 6
	if was.Type != "paragraph" || was.Key == "" || from < 0 || len(words) < least ||
		saidBy(&(*lists[1].list)[from]) != saidBy(&was) {
		return
	}
	edited := slices.Clone(words)
	edited[writers[0].between(0, len(words)-1)] = writers[0].word()
	moved := slices.Clone(words)
	if writers[1].between(0, 1) == 0 {
		moved[writers[1].between(0, len(words)-1)] = writers[1].word()
	}
	(*lists[0].list)[at].Nodes = sentence("", edited).Nodes
	*lists[1].list = slices.Delete(*lists[1].list, from, from+1)
	*lists[1].list = slices.Insert(*lists[1].list, writers[1].between(0, len(*lists[1].list)), sentence("", moved))
}

func saidBy(n *schema.Node) (text string) {
	for i := range n.Nodes {
		for _, leaf := range n.Nodes[i].Leaves {
			text += leaf.Text
		}
	}
	return text
}

// keyedLists adds the lists of a document to `lists`. The key in `lists` is the key of the block that contains the
// list.
func keyedLists(nodes *[]schema.Node, key, parent string, lists map[string]listAt) {
	lists[key] = listAt{nodes, parent}
	for i := range *nodes {
		switch n := &(*nodes)[i]; n.Type {
		case "hint", "list-unordered", "list-item", "code":
			if n.Key != "" {
				keyedLists(&n.Nodes, n.Key, n.Type, lists)
			}
		}
	}
}

// TestRestatedElsewhere edits a text on one side. On the other side, it deletes the block of the text. It then writes
// the text with another edit into a block with another key. The conflict must contain both edits, and each word must be
// in the result once.
func TestRestatedElsewhere(t *testing.T) {
	t.Parallel()
	document := func(blocks ...[2]string) schema.Document {
		var d schema.Document
		for _, b := range blocks {
			n := sentence("", strings.Fields(b[1]))
			n.Key = b[0]
			d.Nodes = append(d.Nodes, n)
		}
		d.Normalize()
		return d
	}
	middle, end := [2]string{"m", "middle"}, [2]string{"e", "end"}
	base := document([2]string{"a", "one two three four five six seven"}, middle, end)
	edited := document([2]string{"a", "one two three mine five six seven"}, middle, end)
	moved := document(middle, [2]string{"b", "one two three four five yours seven"}, end)
	for name, sides := range map[string][2]schema.Document{"theirs": {edited, moved}, "ours": {moved, edited}} {
		for _, take := range []string{TakeOurs, TakeTheirs} {
			_, open := Documents(base, sides[0], sides[1], nil)
			if len(open) != 1 {
				t.Fatalf("%s moves it: %d conflicts, want 1: %+v", name, len(open), open)
			}
			merged, _ := Documents(base, sides[0], sides[1], Choices{open[0].ID: {Take: take}})
			want := sides[0]
			if take == TakeTheirs {
				want = sides[1]
			}
			if texts(merged) != texts(want) {
				t.Errorf("%s moves it, %s: %s, want %s", name, take, texts(merged), texts(want))
			}
		}
	}
}
