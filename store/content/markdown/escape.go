package markdown

import (
	"fmt"
	"strings"
)

// escaped escapes a paragraph's text so that it reads back as plain text.
func escaped(text string) string { return escapedIn(text, inParagraph) }

func escapedIn(text string, where place) string {
	return writeRuns([]run{{text: text}}, "_", where)
}

// text appends text. after is what follows it directly, which decides the escaping at its end: an exclamation mark
// before a link would make the link an image.
func (w *inlineWriter) text(text, after string) {
	lineStart := w.out.Len() == 0 || strings.HasSuffix(w.out.String(), "\\\n")
	for i := 0; i < len(text); i++ {
		c := text[i]
		next := byte(0)
		if i+1 < len(text) {
			next = text[i+1]
		} else if after != "" {
			next = after[0]
		}
		switch {
		case c == '\n':
			// A hard break. At the start it would follow an empty line.
			if w.out.Len() == 0 {
				w.out.WriteString("&#10;")
			} else {
				w.out.WriteString("\\\n")
			}
			lineStart = true
			continue
		case lineStart && c == ' ' && w.where == inParagraph, c == ' ' && next == '\n':
			w.out.WriteString("&#x20;")
			continue
		case c < ' ' || c == 0x7f, c == '\\' && (next == '\n' || i+1 == len(text)):
			// Goldmark misses the break in three backslashes at the end of a line.
			fmt.Fprintf(&w.out, "&#%d;", c)
		case strings.IndexByte("\\`*_[]<>~|", c) >= 0,
			c == '!' && next == '[',
			c == '{' && next == '%',
			c == '&' && (next == '#' || isLetter(next)),
			lineStart && strings.IndexByte("#+-=:", c) >= 0:
			w.out.WriteByte('\\')
			w.out.WriteByte(c)
		case lineStart && isDigit(c):
			i += w.number(text[i:]) - 1
		default:
			w.out.WriteByte(c)
		}
		lineStart = false
	}
}

// number writes the digits at the start of a line, and escapes a sign after them that would make the line a list item.
func (w *inlineWriter) number(text string) int {
	n := 0
	for n < len(text) && isDigit(text[n]) {
		n++
	}
	w.out.WriteString(text[:n])
	if n < len(text) && (text[n] == '.' || text[n] == ')') {
		w.out.WriteByte('\\')
		w.out.WriteByte(text[n])
		n++
	}
	return n
}

func isDigit(c byte) bool  { return '0' <= c && c <= '9' }
func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
