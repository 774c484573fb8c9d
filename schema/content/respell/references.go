package respell

import (
	"strings"
	"unicode/utf8"
)

// Reference is a link or an image of a source whose target is in a definition, as in [text][label] or [text]. It can
// also be a link in angle brackets, as in <https://a.example>.
type Reference struct {
	// From and To are the positions in the source of the part after the text: "[label]", "[]" or nothing. For a link in
	// angle brackets, they are the positions of the whole link.
	From, To int
	// Text is the text as the source spells it, and Label is the label of the definition. Both are empty for a link in
	// angle brackets.
	Text, Label string
	// Target is the target as an inline link has it, such as (/page "title"). For a link in angle brackets, it is the
	// whole inline link.
	Target string
}

// References does the same as Words for a source with references. In `before` and `next`, the links have their targets
// inline. In the result, a link keeps its reference if the link's target is unchanged. A link in angle brackets keeps
// the brackets if neither its text nor its target has changed. If the text of a reference was also its label, and the
// text has changed, the label stands after the text. The list is in the order of the source. If a text has a character
// of the markers, the result has no references.
func References(source, before, next string, list []Reference) string {
	if len(list) > lastMarker-firstMarker || strings.ContainsFunc(source+before+next, isMarker) {
		return Words(source, before, next)
	}
	var inline strings.Builder
	at := 0
	for i, r := range list {
		inline.WriteString(source[at:r.From] + string(firstMarker+rune(i)) + r.Target + string(lastMarker))
		at = r.To
	}
	return referring(Words(inline.String()+source[at:], before, next), source, list)
}

// These characters mark the targets that References puts into a source. The character firstMarker + i is before the
// target of the reference at index i, and lastMarker is after each target.
const (
	firstMarker = '\U000F0000'
	lastMarker  = '\U0010FFFD'
)

func isMarker(c rune) bool { return c >= firstMarker && c <= lastMarker }

// referring removes the markers from a text. It replaces each unchanged target by its reference.
func referring(text, source string, list []Reference) string {
	var b strings.Builder
	for {
		at := strings.IndexFunc(text, isMarker)
		if at < 0 {
			return b.String() + text
		}
		b.WriteString(text[:at])
		marker, size := utf8.DecodeRuneInString(text[at:])
		i := int(marker - firstMarker)
		text = text[at+size:]
		if i >= len(list) {
			continue
		}
		target, rest, found := strings.Cut(text, string(lastMarker))
		if !found || target != list[i].Target {
			continue
		}
		b.WriteString(list[i].after(b.String(), source))
		text = rest
	}
}

// after returns the part of a reference after its text. `written` ends with this text.
func (r Reference) after(written, source string) string {
	after := source[r.From:r.To]
	if strings.Trim(after, "[] \t\n") == "" && !strings.HasSuffix(written, "["+r.Text+"]") {
		return "[" + r.Label + "]"
	}
	return after
}
