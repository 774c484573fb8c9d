package pdf

import (
	"unicode"
	"unicode/utf8"
)

// word is a part of a text that may be wider than its line. It has three numbers: the index of the first byte, the
// index after the last byte, and the index of the word in the block. If a mark or a link begins inside of a word, the
// parts of the word are in several nodes.
type word [3]int

// These constants are measures of the layout, in points. The estimated room of a line is at most its real room, and the
// estimated width of a letter is at least its real width. So findWords finds each word that is wider than its line. The
// layout then measures the words that were found.
const (
	roomOfSheet  = 470
	roomOfBlock  = 30  // the room that an enclosing block takes from a line
	roomOfEdge   = 16  // the width of the edges of a cell or a column
	shareOfInner = 0.9 // the fraction of a cell's width that these edges leave
	letter       = 10.5
	letterCode   = 5.6 // the width of a letter in a code block
	fewest       = 3
)

// headingLetters has the sizes of letters in headings, by depth. The first depth is 1.
var headingLetters = [maxHeading + 1]float64{letter, 15, 13.5, 12, letter, letter, letter}

// letters returns a number of letters that is certain to fit into a line at the present place.
func (b *builder) letters(size float64) int {
	room := roomOfSheet - roomOfBlock*float64(max(b.depth-1, 0))
	if b.share > 0 {
		room = room*b.share - roomOfEdge
	}
	return max(fewest, int(room/size))
}

// within calls `show` for content whose width is a fraction of the present width. Then it restores the present width.
func (b *builder) within(share float64, show func()) {
	around := b.share
	if around > 0 {
		share *= around * shareOfInner
	}
	b.share = share
	show()
	b.share = around
}

// findWords records the words in inlines that have more characters than `letters`. It reports whether it has found any.
func findWords(inlines []node, letters int) (found bool) {
	f := finder{letters: letters}
	f.walk(inlines)
	f.end()
	return f.words > 0
}

// finder finds long words while it iterates over inlines in reading order.
type finder struct {
	letters, words int
	open           []part // parts of the current word
	length         int    // length of the current word, in characters
}

type part struct {
	of       *node
	from, to int
}

func (f *finder) walk(inlines []node) {
	for i := range inlines {
		n := &inlines[i]
		switch {
		case n.Kind == "s":
			f.text(n)
		case n.Kind == "link" || n.Kind == "note":
			f.walk(n.Children)
		default:
			f.end()
		}
	}
}

func (f *finder) text(n *node) {
	from := 0
	for at, r := range *n.Text {
		if staysWhole(r) {
			f.length++
			continue
		}
		f.add(n, from, at)
		f.end()
		from = at + utf8.RuneLen(r)
	}
	f.add(n, from, len(*n.Text))
}

func (f *finder) add(n *node, from, to int) {
	if from < to {
		f.open = append(f.open, part{n, from, to})
	}
}

func (f *finder) end() {
	if f.length > f.letters {
		for _, p := range f.open {
			p.of.Words = append(p.of.Words, word{p.from, p.to, f.words})
		}
		f.words++
	}
	f.open, f.length = f.open[:0], 0
}

// staysWhole reports whether a line never breaks after a character. The character then belongs to a long word. It
// returns false for scripts whose letters join, and for scripts in which a line may break after each character.
func staysWhole(r rune) bool {
	const (
		noBreakSpace, narrowSpace = '\u00a0', '\u202f'
		softHyphen, zeroWidth     = '\u00ad', '\u200b'
	)
	switch {
	case r == noBreakSpace || r == narrowSpace:
		return true
	case r == softHyphen || r == zeroWidth || unicode.IsSpace(r):
		return false
	}
	return r < 0x600 || 0x1e00 <= r && r < 0x2e80
}

// longestWord returns the number of characters in the longest word of a text.
func longestWord(text string) int {
	longest, length := 0, 0
	for _, r := range text {
		length++
		if !staysWhole(r) {
			length = 0
		}
		longest = max(longest, length)
	}
	return longest
}

// narrow reports whether one of the nodes or their descendants has words that may be wider than their line.
func narrow(nodes []node) bool {
	for i := range nodes {
		if nodes[i].Long || narrow(nodes[i].Children) {
			return true
		}
	}
	return false
}
