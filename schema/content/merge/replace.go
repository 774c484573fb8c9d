package merge

import (
	"slices"
	"strings"

	"github.com/octavo-docs/octavo/schema"
)

// replacement handles a block that one side deleted and replaced, and that the other side changed. The replacement is
// at the block's place, or elsewhere in the list with the same text. The block and its replacement form one conflict.
// The result is false if the deleting side did not replace the block.
func (m *merger) replacement(key string, deleter, other *side, whose string) bool {
	if m.bare[key] {
		return false
	}
	at := m.base.blocks[key].place
	list, instead := m.base.lists[at], deleter.lists[at]
	from := slices.Index(list, key)
	to := from + 1
	for ; from > 0 && deleter.blocks[list[from-1]] == nil; from-- {
	}
	for ; to < len(list) && deleter.blocks[list[to]] == nil; to++ {
	}
	was := slices.DeleteFunc(slices.Clone(list[from:to]), func(key string) bool {
		return other.blocks[key] == nil || other.blocks[key].place != at || m.dead[key]
	})
	if !slices.Contains(was, key) {
		return false
	}
	first, last := 0, len(instead)
	if to < len(list) {
		if end := slices.Index(instead, list[to]); end >= 0 {
			last = end
		}
	}
	if from > 0 {
		first = min(slices.Index(instead, list[from-1])+1, last)
	}
	there := positions(m.added(deleter, instead[first:last]))
	elsewhere := m.restated(deleter, other, was, instead)
	instead = slices.DeleteFunc(slices.Clone(instead), func(key string) bool {
		return m.dead[key] || !has(there, key) && !elsewhere[key]
	})
	if len(instead) == 0 {
		for _, key := range list[from:to] {
			m.bare[key] = true
		}
		return false
	}
	mine, others := was, instead
	if whose == TakeOurs {
		mine, others = instead, was
	}
	take, value := m.decide(at, was, mine, others)
	if take == whose || take == TakeValue {
		for _, key := range was {
			m.kill(key, deleter, other)
		}
	}
	if take != whose {
		m.drop(deleter, instead)
	}
	if take != whose && take != TakeValue {
		m.keep(deleter, other, was...)
	}
	if take == TakeValue {
		m.put(was[0], at, value)
	}
	for _, key := range was {
		m.settled[key] = true
	}
	return true
}

// An added block repeats a text if the text contains at least the fraction restatedWords of the block's words. The text
// must also contain at least the fraction restatedPairs of the block's pairs of neighboring words.
const (
	restatedWords = nearWords
	restatedPairs = 0.5
)

// restated returns the blocks that the deleting side added to a list and that repeat the text of its deleted blocks.
func (m *merger) restated(deleter, other *side, deleted, list []string) map[string]bool {
	list = m.added(deleter, list)
	if m.compared += len(list) + len(deleted); len(list) == 0 || m.compared > maxNear {
		return nil
	}
	// An added block may repeat the text before the other side's edit or the text after it.
	before, after := newPassage(), newPassage()
	for _, key := range deleted {
		before.add(m.base.blocks[key].node)
		after.add(other.blocks[key].node)
	}
	found := map[string]bool{}
	for _, key := range list {
		if n := deleter.blocks[key].node; before.says(n) || after.says(n) {
			found[key] = true
		}
	}
	return found
}

// keep records the texts of blocks that stay although one side deleted them.
func (m *merger) keep(deleter, other *side, list ...string) {
	if m.kept[deleter] == nil {
		m.kept[deleter] = newPassage()
	}
	for _, key := range list {
		m.kept[deleter].add(other.blocks[key].node)
	}
}

// repeats reports whether a side's edit of a block repeats a text that the side deleted elsewhere, but that is still in
// the result. The edit repeats the text if the text contains most of the block's words, or one line of the block.
func (m *merger) repeats(s, other *side, key string) bool {
	kept, is := m.kept[s], s.blocks[key].node
	if kept == nil || !holdsText(is) {
		return false
	}
	was := newPassage()
	was.add(other.blocks[key].node)
	if kept.says(is) && !kept.says(other.blocks[key].node) {
		return true
	}
	return slices.ContainsFunc(linesOf(is), func(line string) bool { return kept.lines[line] && !was.lines[line] })
}

// passage has the lines of a text. It also has the number of times that each word, and each pair of neighboring words,
// occurs in the text.
type passage struct {
	lines map[string]bool
	words map[string]int
	pairs map[[2]string]int
}

func newPassage() *passage {
	return &passage{lines: map[string]bool{}, words: map[string]int{}, pairs: map[[2]string]int{}}
}

func (p *passage) add(n *schema.Node) {
	for _, line := range linesOf(n) {
		p.lines[line] = true
	}
	words, _ := wordsOf(plain(n), maxWords)
	for i, word := range words {
		p.words[word]++
		if i > 0 {
			p.pairs[[2]string{words[i-1], word}]++
		}
	}
}

// linesOf lists the lines of a block that have fewestWords words or more.
func linesOf(n *schema.Node) (list []string) {
	for line := range strings.Lines(plain(n)) {
		if words, _ := wordsOf(line, fewestWords); len(words) == fewestWords {
			list = append(list, strings.TrimSpace(line))
		}
	}
	return list
}

// says reports whether the passage contains most of a block's text.
func (p *passage) says(n *schema.Node) bool {
	block := newPassage()
	block.add(n)
	words, all := overlap(block.words, p.words)
	pairs, allPairs := overlap(block.pairs, p.pairs)
	return all >= fewestWords && float64(words) >= restatedWords*float64(all) &&
		float64(pairs) >= restatedPairs*float64(allPairs)
}

// overlap compares the list `of` with the list `in`. It returns how many elements of `of` are also in `in`, and the
// length of `of`.
func overlap[T comparable](of, in map[T]int) (common, all int) {
	for element, n := range of {
		common, all = common+min(n, in[element]), all+n
	}
	return common, all
}
