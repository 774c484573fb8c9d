package merge

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content/diff"
)

// token is a word, the text between words, or an inline. Two tokens are equal only if their marks are equal too.
type token struct {
	text   string
	leaf   *schema.Leaf // the leaf that contains the text
	marks  string
	inline *schema.Node // an inline, if this is not a text
	word   bool
}

// maxWords bounds the number of parts of a side's text that a merge compares individually. The parts are the words, and
// the characters between words. Each part needs about 200 bytes of memory. Longer texts are compared by runs of words.
const maxWords = 100_000

// cutter cuts a text into parts. Its member isWord reports whether a part is a word.
type cutter struct {
	cut    func(text string) []string
	isWord func(part string) bool
}

var (
	byWord = cutter{split, isWord}
	byRun  = cutter{runs, isWord}
	byLine = cutter{
		func(text string) []string { return strings.SplitAfter(text, "\n") }, func(string) bool { return true },
	}
)

func isWord(part string) bool {
	first, _ := utf8.DecodeRuneInString(part)
	return class(first) != between || len(part) > utf8.UTFMax
}

// tokens cuts inlines into tokens. `names` has a text for each token. Two tokens are equal if these texts are equal.
func tokens(nodes []schema.Node, by cutter) (list []token, names []string) {
	for i := range nodes {
		n := &nodes[i]
		if n.Object != schema.ObjectText || n.Key != "" || n.Data != nil || n.Meta != nil {
			keyless := *n
			keyless.Key = ""
			list, names = append(list, token{inline: n, word: true}), append(names, "n"+string(canonicalJSON(keyless)))
			continue
		}
		for j := range n.Leaves {
			leaf := &n.Leaves[j]
			marks := string(canonicalJSON(leaf.Marks))
			for _, part := range by.cut(leaf.Text) {
				list = append(list, token{text: part, leaf: leaf, marks: marks, word: by.isWord(part)})
				names = append(names, "t"+marks+part)
			}
		}
	}
	return list, names
}

// These constants are the classes of characters. A word is a run of letters, or a single character of a script without
// spaces.
const (
	between = iota
	letter
	single
)

func class(r rune) int {
	switch {
	case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer,
		unicode.Myanmar):
		return single
	case unicode.IsLetter(r), unicode.IsDigit(r), unicode.IsMark(r), r == '_':
		return letter
	}
	return between
}

// split cuts a text into words, and into single characters between words.
func split(text string) []string {
	var parts []string
	eachPart(text, func(part string, _ int) bool { parts = append(parts, part); return true })
	return parts
}

// eachPart calls `visit` for each word of a text, and for each single character between words. `end` is the position
// after the part.
func eachPart(text string, visit func(part string, end int) bool) {
	start, last := 0, between
	for at, r := range text {
		c := class(r)
		if at > 0 && (c != letter || last != letter) {
			if !visit(text[start:at], at) {
				return
			}
			start = at
		}
		last = c
	}
	if start < len(text) {
		visit(text[start:], len(text))
	}
}

// count returns the number of the inlines' words, and of the parts between words. In each leaf, it stops after maxWords
// parts.
func count(nodes []schema.Node) (n int) {
	for i := range nodes {
		for j := range nodes[i].Leaves {
			eachPart(nodes[i].Leaves[j].Text, func(string, int) bool { n++; return n <= maxWords })
		}
	}
	return n
}

// These constants are the least and the largest number of parts in a run of words.
const (
	leastRun = 16
	mostRun  = 256
)

// runs cuts a text into runs of words. The words determine the places of the cuts, so if a text is inserted, only the
// runs near it change.
func runs(text string) (parts []string) {
	start, n := 0, 0
	eachPart(text, func(part string, end int) bool {
		hash := uint32(2166136261) // FNV-1a
		for i := range len(part) {
			hash = (hash ^ uint32(part[i])) * 16777619
		}
		if n++; n >= mostRun || n >= leastRun && hash>>8%leastRun == 0 {
			parts, start, n = append(parts, text[start:end]), end, 0
		}
		return true
	})
	if start < len(text) {
		parts = append(parts, text[start:])
	}
	return parts
}

// hunk is a range of `base` that a side replaced. `theirs` is true if this side is `theirs`.
type hunk struct {
	from, to int
	theirs   bool
}

// mergeWords merges inlines that both sides changed. `ok` is false if both sides changed the same words, or if they
// changed neighboring words.
func mergeWords(base, ours, theirs []schema.Node) (merged []schema.Node, ok bool) {
	by := byWord
	if max(count(base), count(ours), count(theirs)) > maxWords {
		by = byRun
	}
	return mergeBy(by, base, ours, theirs)
}

// mergeLines merges texts with several lines, such as raw HTML and formulas.
func mergeLines(base, ours, theirs any) (merged string, ok bool) {
	var lines [3][]schema.Node
	several := false
	for i, value := range []any{base, ours, theirs} {
		text, is := value.(string)
		if !is {
			return "", false
		}
		several = several || strings.Contains(text, "\n")
		lines[i] = []schema.Node{schema.Text(text)}
	}
	if !several {
		return "", false
	}
	nodes, ok := mergeBy(byLine, lines[0], lines[1], lines[2])
	for _, n := range nodes {
		for _, leaf := range n.Leaves {
			merged += leaf.Text
		}
	}
	return merged, ok
}

// mergeBy merges inlines part by part. `by` cuts them into parts. `ok` has the same meaning as for mergeWords.
func mergeBy(by cutter, base, ours, theirs []schema.Node) (merged []schema.Node, ok bool) {
	baseTokens, baseNames := tokens(base, by)
	oursTokens, oursNames := tokens(ours, by)
	theirsTokens, theirsNames := tokens(theirs, by)
	toOurs, toTheirs := diff.Match(baseNames, oursNames), diff.Match(baseNames, theirsNames)
	hunks := byPlace(hunksOf(toOurs, len(oursNames), false), hunksOf(toTheirs, len(theirsNames), true))
	var out []token
	at := 0
	for len(hunks) > 0 {
		group, both := hunks[0], false
		n := 1
		for n < len(hunks) && !wordBetween(baseTokens, group.to, hunks[n].from) {
			both = both || hunks[n].theirs != hunks[0].theirs
			group.to = max(group.to, hunks[n].to)
			n++
		}
		hunks = hunks[n:]
		out = append(out, baseTokens[at:group.from]...)
		at = group.to
		o0, o1 := replaced(toOurs, group, len(oursNames))
		t0, t1 := replaced(toTheirs, group, len(theirsNames))
		switch {
		case both && !equalNames(oursNames[o0:o1], theirsNames[t0:t1]):
			return nil, false
		case group.theirs && !both:
			out = append(out, theirsTokens[t0:t1]...)
		default:
			out = append(out, oursTokens[o0:o1]...)
		}
	}
	return inlines(append(out, baseTokens[at:]...)), true
}

// hunksOf lists the ranges of `base` that a side replaced, and the places where the side inserted something.
func hunksOf(pairs []int, length int, theirs bool) []hunk {
	var list []hunk
	next := 0
	for i := 0; i <= len(pairs); {
		to := i
		for to < len(pairs) && pairs[to] == diff.None {
			to++
		}
		end := length
		if to < len(pairs) {
			end = pairs[to]
		}
		if to > i || end > next {
			list = append(list, hunk{from: i, to: to, theirs: theirs})
		}
		next, i = end+1, to+1
	}
	return list
}

// byPlace merges two sorted lists of hunks into one sorted list.
func byPlace(a, b []hunk) []hunk {
	var list []hunk
	for len(a) > 0 && len(b) > 0 {
		if b[0].from < a[0].from || b[0].from == a[0].from && b[0].to < a[0].to {
			list, b = append(list, b[0]), b[1:]
		} else {
			list, a = append(list, a[0]), a[1:]
		}
	}
	return append(append(list, a...), b...)
}

func wordBetween(base []token, from, to int) bool {
	for i := from; i < to; i++ {
		if base[i].word {
			return true
		}
	}
	return false
}

// replaced returns the range of a side's tokens that replaces a range of `base`. On this side, the tokens around the
// range are unchanged.
func replaced(pairs []int, h hunk, length int) (from, to int) {
	if h.from > 0 {
		from = pairs[h.from-1] + 1
	}
	if h.to < len(pairs) {
		return from, pairs[h.to]
	}
	return from, length
}

func equalNames(a, b []string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// inlines makes inlines from tokens. Neighbouring texts with the same marks become one leaf.
func inlines(list []token) []schema.Node {
	nodes := []schema.Node{}
	text := schema.Node{Object: schema.ObjectText}
	endText := func() {
		if len(text.Leaves) > 0 {
			nodes, text.Leaves = append(nodes, text), nil
		}
	}
	for i := 0; i < len(list); {
		if list[i].inline != nil {
			endText()
			nodes = append(nodes, *list[i].inline)
			i++
			continue
		}
		leaf, run := *list[i].leaf, strings.Builder{}
		for marks := list[i].marks; i < len(list) && list[i].inline == nil && list[i].marks == marks; i++ {
			run.WriteString(list[i].text)
		}
		leaf.Text = run.String()
		text.Leaves = append(text.Leaves, leaf)
	}
	endText()
	return nodes
}
