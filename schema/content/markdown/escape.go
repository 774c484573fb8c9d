package markdown

import (
	"fmt"
	"regexp"
	"strings"
)

// inlineForm is one way to write inlines.
type inlineForm struct {
	italic    string // delimiter with which italic text is written
	html      bool   // whether marks are written as HTML elements
	addresses bool   // whether addresses are unescaped, because other Markdown readers search texts for addresses
}

// inlineWriter writes pieces of text. `open` is the stack of the open marks.
type inlineWriter struct {
	out   strings.Builder
	open  []layer
	form  inlineForm
	where place
}

// bareAddress matches addresses that other Markdown readers turn into links.
var bareAddress = regexp.MustCompile(`^https?://[^\s<>]+`)

// text writes a text with escapes. `after` is the source that follows the text. It determines the escapes at the end of
// the text. For example, without an escape, an exclamation mark before a link would make the link an image.
func (w *inlineWriter) text(text, after string) {
	atLineStart := w.out.Len() == 0 || strings.HasSuffix(w.out.String(), "\\\n")
	addressEnd := 0
	for i := 0; i < len(text); i++ {
		c := text[i]
		next := byte(0)
		if i+1 < len(text) {
			next = text[i+1]
		} else if after != "" {
			next = after[0]
		}
		if c == 'h' && w.form.addresses && i >= addressEnd {
			addressEnd = i + len(bareAddress.FindString(text[i:]))
		}
		switch {
		case c == '\n' && w.where == inTitle:
			w.out.WriteString("&#10;")
		case c == '\n' && w.where != inParagraph:
			w.out.WriteString("<br>")
		case c == '\n':
			// A line break is written as a hard break. At the start of a text, the backslash would be alone on its
			// line, so a reference is written instead.
			if w.out.Len() == 0 {
				w.out.WriteString("&#10;")
			} else {
				w.out.WriteString("\\\n")
			}
			atLineStart = true
			continue
		case atLineStart && c == ' ' && w.where == inParagraph,
			c == ' ' && (next == '\n' || i > 0 && text[i-1] == '\n'):
			w.out.WriteString("&#x20;")
			continue
		case c == '\t' && !atLineStart && next != '\n' && w.where == inParagraph:
			w.out.WriteByte(c)
		case c < ' ' || c == 0x7f, c == '\\' && (next == '\n' || i+1 == len(text)):
			// Goldmark does not read a hard break after three backslashes at the end of a line, so this character is
			// written as a reference.
			fmt.Fprintf(&w.out, "&#%d;", c)
		case i < addressEnd && strings.IndexByte("_*~&", c) >= 0:
			w.out.WriteByte(c)
		case w.out.Len() == 0 && w.where == inParagraph && beginsModule(text[i:], after):
			fmt.Fprintf(&w.out, "&#%d;", c)
		case w.special(text, after, i, next, atLineStart):
			w.out.WriteByte('\\')
			w.out.WriteByte(c)
		case atLineStart && isDigit(c):
			i += w.number(text[i:]) - 1
		default:
			w.out.WriteByte(c)
		}
		atLineStart = false
	}
}

// special reports whether the character would be read as syntax if it were not escaped.
func (w *inlineWriter) special(text, after string, i int, next byte, atLineStart bool) bool {
	switch text[i] {
	case '`', '*', '[', ']', '~':
		return true
	case '_':
		return !inWord(text, i)
	case '\\':
		return !isLetter(next) && !isDigit(next)
	case '<':
		return isLetter(next) || next == '/' || next == '!' || next == '?' || next == 0
	case '>', '#', '+', '-', '=':
		return atLineStart
	case '|':
		return atLineStart || w.where == inCell || w.where == inTitle
	case '!':
		return next == '['
	case '{':
		return next == '%' || strings.HasPrefix(text[i:], commentOpens) || beginsShortcode(text[i:], after) ||
			(atLineStart || i == 0 || w.where == inHeading) && beginsAttributes(text[i:])
	case '$':
		return next == '$'
	case '&':
		return next == 0 || entity.MatchString(text[i:])
	case ':':
		return atLineStart || isShortcode(text, i) || i == 0 && w.afterReference()
	case '"':
		return w.where == inTitle
	}
	return false
}

// beginsShortcode reports whether a text with the following source could be read as a shortcode of Hugo.
func beginsShortcode(text, after string) bool {
	const enough = len("{{/*")
	return shortcodeEnd([]byte(text[:min(len(text), enough)]+after[:min(len(after), enough)])) != ""
}

// beginsAttributes reports whether a text could be read as a list of attributes or as a directive.
func beginsAttributes(text string) bool {
	return len(text) > 1 && strings.IndexByte("#.:", text[1]) >= 0 || strings.HasPrefix(text, "{{#") ||
		attributesNext.MatchString(text[:min(len(text), maxAttributeList)])
}

// afterReference reports whether the current line has only a reference to a note. A colon after the reference would
// make it the definition of the note.
func (w *inlineWriter) afterReference() bool {
	out := w.out.String()
	if !strings.HasSuffix(out, "]") {
		return false
	}
	// A reference has no other brackets, so the previous bracket must be its beginning.
	begin := strings.LastIndexAny(out[:len(out)-1], "[]\n")
	if begin < 0 || out[begin] != '[' || begin > 0 && out[begin-1] != '\n' {
		return false
	}
	return noteRef.FindString(out[begin:]) == out[begin:]
}

// number writes the digits at the start of a line. If the sign after the digits would make the line a list item, number
// escapes this sign.
func (w *inlineWriter) number(text string) int {
	n := 0
	for n < len(text) && isDigit(text[n]) {
		n++
	}
	w.out.WriteString(text[:n])
	if n < len(text) && (text[n] == '.' || text[n] == ')') {
		if n+1 == len(text) || strings.IndexByte(" \t\n", text[n+1]) >= 0 {
			w.out.WriteByte('\\')
		}
		w.out.WriteByte(text[n])
		n++
	}
	return n
}
