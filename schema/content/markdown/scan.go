package markdown

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/octavo-docs/octavo/schema/content"
)

// linesOf returns the lines of a block, each with its newline.
func linesOf(n ast.Node, source []byte) string {
	var b strings.Builder
	for i := range n.Lines().Len() {
		line := n.Lines().At(i)
		b.Write(line.Value(source))
	}
	return b.String()
}

func trimNewline(line []byte) []byte { return bytes.TrimRight(line, "\r\n") }

// advanceToEnd advances to the newline at the end of the line. Goldmark then still reads the newline as the rest of the
// line.
func advanceToEnd(block text.Reader, line []byte, segment text.Segment) {
	newline := 0
	if bytes.HasSuffix(line, []byte("\n")) {
		newline = 1
	}
	block.Advance(segment.Len() - newline)
}

// restOfBlock returns the next lines of a block. It returns at most `most` bytes, and does not move the reader.
func restOfBlock(block text.Reader, most int) (rest []byte) {
	line, position := block.Position()
	defer block.SetPosition(line, position)
	for len(rest) < most {
		next, _ := block.PeekLine()
		if next == nil {
			break
		}
		rest = append(rest, next[:min(len(next), most-len(rest))]...)
		block.AdvanceLine()
	}
	return rest
}

// advanceOver advances by a number of bytes, which may span several lines. It appends the segments of the text over
// which it advances to `segments`.
func advanceOver(block text.Reader, segment text.Segment, length int, segments *text.Segments) {
	for {
		part := min(length, segment.Len())
		segments.Append(text.NewSegment(segment.Start, segment.Start+part))
		block.Advance(part)
		if length -= part; length == 0 {
			return
		}
		_, segment = block.PeekLine()
	}
}

var blankLine = regexp.MustCompile(`\n[ \t]*\n`)

// maxShortcode bounds the bytes of a shortcode of Hugo.
const maxShortcode = 512

// shortcodeEnd returns the end of the shortcode of Hugo that could begin with a text. Shortcodes have the forms
// {{< note >}} and {{% /note %}}. A comment as in {{/* note */}} is like a shortcode. The result is "" if the text
// begins in another way.
func shortcodeEnd(text []byte) string {
	switch {
	case bytes.HasPrefix(text, []byte("{{<")) && !bytes.HasPrefix(text, []byte("{{<}")):
		return ">}}"
	case bytes.HasPrefix(text, []byte("{{%")) && !bytes.HasPrefix(text, []byte("{{%}")):
		return "%}}"
	case bytes.HasPrefix(text, []byte("{{/*")):
		return "*/}}"
	}
	return ""
}

// shortcodeLength returns the length of the shortcode of Hugo with which a text begins. It returns 0 if the text does
// not begin with a shortcode.
func shortcodeLength(text []byte) int {
	text = text[:min(len(text), maxShortcode)]
	closes := shortcodeEnd(text)
	if closes == "" {
		return 0
	}
	inside, _, found := bytes.Cut(text[len("{{<"):], []byte(closes))
	name := bytes.TrimLeft(inside, " \t\n/*")
	if !found || len(name) == 0 || !isLetter(name[0]) && !isDigit(name[0]) && name[0] != '_' ||
		bytes.Contains(inside, []byte("{{")) {
		return 0
	}
	return len("{{<") + len(inside) + len(closes)
}

// findShortcode returns the position and the length of the first shortcode of Hugo in the text of one leaf. The length
// is 0 if the text contains no shortcode.
func findShortcode(text []byte) (at, length int) {
	for {
		next := bytes.Index(text[at:], []byte("{{"))
		if next < 0 {
			return at, 0
		}
		at += next
		line, _, _ := bytes.Cut(text[at:min(at+maxShortcode, len(text))], []byte("\n"))
		if length = shortcodeLength(line); length > 0 {
			return at, length
		}
		at++
	}
}

// startsLine reports whether the next text of a block is at the beginning of a line.
func startsLine(block ast.Node) bool {
	last, isText := block.LastChild().(*ast.Text)
	return block.LastChild() == nil || isText && (last.SoftLineBreak() || last.HardLineBreak())
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// inWord reports whether an underscore is between letters or digits, where it cannot be a delimiter.
func inWord(text string, i int) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:i])
	after, _ := utf8.DecodeRuneInString(text[i+1:])
	isWord := func(r rune) bool { return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r)) }
	return isWord(before) && isWord(after)
}

var entity = regexp.MustCompile(`^&(?:#[xX]([0-9a-fA-F]{1,6})|#([0-9]{1,7})|([a-zA-Z][a-zA-Z0-9]*));`)

// unescape removes backslashes before punctuation and resolves character references. It does both in one pass, so an
// escaped & cannot become the start of a reference.
func unescape(source []byte) string {
	var b strings.Builder
	for i := 0; i < len(source); i++ {
		switch c := source[i]; {
		case c == '\\' && i+1 < len(source) && util.IsPunct(source[i+1]):
			i++
			b.WriteByte(source[i])
		case c == '&':
			if match := entity.FindSubmatch(source[i:]); match != nil {
				if value, ok := resolve(match); ok {
					b.WriteString(value)
					i += len(match[0]) - 1
					continue
				}
			}
			b.WriteByte(c)
		default:
			b.WriteByte(c)
		}
	}
	return content.Clean(b.String())
}

func resolve(match [][]byte) (string, bool) {
	if len(match[3]) > 0 {
		named, ok := util.LookUpHTML5EntityByName(string(match[3]))
		if !ok {
			return "", false
		}
		return string(named.Characters), true
	}
	digits, base := string(match[2]), 10
	if len(match[1]) > 0 {
		digits, base = string(match[1]), 16
	}
	code, err := strconv.ParseUint(digits, base, 32)
	if err != nil || code == 0 || code > 0x10FFFF {
		return "\uFFFD", true
	}
	return string(rune(code)), true
}

func numericReference(c byte) string { return "&#" + strconv.Itoa(int(c)) + ";" }
