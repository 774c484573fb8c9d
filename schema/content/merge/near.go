package merge

import (
	"slices"
	"strings"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content"
	"github.com/octavo-docs/octavo/schema/content/keys"
)

// saying has the text of an added block in a form that can be compared.
type saying struct {
	family string
	// words has the text's words, and pairs has its pairs of neighboring characters. Both lists are sorted.
	words []string
	pairs [][2]rune
	// parts has the texts of the parts of a block: items of a list, lines of code, or records of a table. Short texts
	// are left out.
	parts map[string]bool
}

// These constants define when two blocks are near-equal. First, two blocks are near-equal if the fraction nearWords of
// the shorter text's words is in the longer text. The shorter text must then have at least the fraction nearLength of
// the longer text's number of words. Second, two blocks are near-equal if the fraction nearPairs of their pairs of
// characters is equal. Texts before and after the correction of a typing error are an example. maxNearWords is the
// largest number of words of a text that are compared.
const (
	maxNearWords = 256
	nearWords    = 0.75
	nearLength   = 0.5
	nearPairs    = 0.8
)

// sayings returns the saying of each block of a list. A block's saying is empty if both sides have this block or one of
// its descendants.
func (m *merger) sayings(s *side, list []string) []saying {
	read := make([]saying, len(list))
	for i, key := range list {
		if m.onlyOf(s, key) {
			read[i] = sayingOf(s.blocks[key].node)
		}
	}
	return read
}

func sayingOf(n *schema.Node) saying {
	said, t := plain(n), saying{family: keys.Family(n)}
	t.words, said = wordsOf(said, maxNearWords)
	runes := []rune(strings.Join(strings.Fields(said), " "))
	for at := range len(runes) - 1 {
		t.pairs = append(t.pairs, [2]rune{runes[at], runes[at+1]})
	}
	slices.Sort(t.words)
	slices.SortFunc(t.pairs, comparePairs)
	if parts[n.Type] {
		t.parts = map[string]bool{}
		for i := range n.Nodes {
			text := strings.Join(strings.Fields(plain(&n.Nodes[i])), " ")
			if words, _ := wordsOf(text, fewestWords); len(words) == fewestWords {
				t.parts[text] = true
			}
		}
	}
	return t
}

// nearHere returns the similarity of two blocks at one place. At one place, two blocks are near-equal even if they only
// have an equal part.
func (t saying) nearHere(o saying) float64 {
	// A shared part gives a low similarity, so that near-equal texts are paired first.
	const shared = 0.1
	if near := t.near(o); near > 0 || t.family != o.family {
		return near
	}
	for part := range t.parts {
		if o.parts[part] {
			return shared
		}
	}
	return 0
}

// wordsOf lists at most `most` words of a text, and returns the part of the text up to the last listed word.
func wordsOf(text string, most int) (words []string, read string) {
	read = text
	eachPart(text, func(part string, end int) bool {
		if first := []rune(part)[0]; class(first) != between {
			words = append(words, part)
		}
		if len(words) == most {
			read = text[:end]
		}
		return len(words) < most
	})
	return words, read
}

// short reports whether a text is very short. Two equal short texts may have been written independently of each other.
func (t saying) short() bool { return len(t.words) < fewestWords }

func comparePairs(a, b [2]rune) int { return slices.Compare(a[:], b[:]) }

// plain returns the text of a block. For a record, it returns the texts of the record's cells.
func plain(n *schema.Node) string {
	if n.Type != typeRow {
		return content.Plain(schema.Document{Nodes: []schema.Node{collapse(*n)}})
	}
	shown := map[string]bool{}
	var cells []string
	for _, f := range n.Fragments {
		shown[f.Fragment] = true
		cells = append(cells, content.Plain(schema.Document{Nodes: collapseAll(f.Nodes)}))
	}
	values, _ := n.Data["values"].(map[string]any)
	for _, value := range values {
		if name, isText := value.(string); isText && !shown[name] {
			cells = append(cells, content.Clean(name))
		}
	}
	slices.Sort(cells[len(n.Fragments):]) // a loop over a map has a random order
	return strings.Join(cells, " ")
}

// near returns the similarity of two texts, from 0 (not near-equal) to 1.
func (t saying) near(o saying) float64 {
	words, pairs, least, most := t.common(o)
	if words >= nearWords*least && least >= nearLength*most || pairs >= nearPairs {
		return max(words/most, pairs)
	}
	return 0
}

// nearElsewhere returns the similarity of two texts at different places. They are near-equal only if the fraction
// nearWords of the longer text's words is in the shorter text. Texts that have less in common, such as two commands of
// one program, are often meant to be different.
func (t saying) nearElsewhere(o saying) float64 {
	words, pairs, _, most := t.common(o)
	if words >= nearWords*most || pairs >= nearPairs {
		return max(words/most, pairs)
	}
	return 0
}

// common returns the number of words that two texts share, and the fraction of their pairs of characters that is
// equal. `least` and `most` are the numbers of words of the shorter and of the longer text. Blocks of different kinds
// have nothing in common.
func (t saying) common(o saying) (words, pairs, least, most float64) {
	if t.family != o.family || len(t.words) == 0 || len(o.words) == 0 {
		return 0, 0, 1, 1
	}
	least, most = float64(min(len(t.words), len(o.words))), float64(max(len(t.words), len(o.words)))
	words = float64(common(t.words, o.words, strings.Compare))
	pairs = 2 * float64(common(t.pairs, o.pairs, comparePairs)) / float64(len(t.pairs)+len(o.pairs)+1)
	return words, pairs, least, most
}

// common returns the number of elements that two sorted lists share.
func common[T any](a, b []T, compare func(T, T) int) (n int) {
	for len(a) > 0 && len(b) > 0 {
		switch order := compare(a[0], b[0]); {
		case order == 0:
			n, a, b = n+1, a[1:], b[1:]
		case order < 0:
			a = a[1:]
		default:
			b = b[1:]
		}
	}
	return n
}
