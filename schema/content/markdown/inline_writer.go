package markdown

import (
	"slices"
	"strings"

	"github.com/octavo-docs/octavo/schema/content"
)

// escaped escapes a paragraph's text. If the result is read as Markdown, it gives the same text.
func escaped(text string) string { return escapedIn(text, inParagraph) }

func escapedIn(text string, where place) string {
	return writePieces([]piece{{text: []byte(text)}}, inlineForm{italic: "_"}, where)
}

func writePieces(pieces []piece, form inlineForm, where place) string {
	w := &inlineWriter{form: form, where: where}
	layers := make([][]layer, len(pieces))
	for i := range pieces {
		layers[i] = pieces[i].layers()
	}
	for i := range pieces {
		p := &pieces[i]
		w.turnTo(layers[i], layers[i+1:])
		switch {
		case p.node != nil:
			w.out.WriteString(p.span)
		case p.raw:
			w.out.Write(p.text)
		case p.marks&content.Code != 0:
			w.code(string(p.text))
		default:
			after := ""
			if i+1 < len(pieces) && pieces[i+1].raw {
				after = string(pieces[i+1].text)
			} else if i+1 < len(pieces) && pieces[i+1].style == p.style {
				after = pieces[i+1].span
			}
			w.text(string(p.text), after)
		}
	}
	w.turnTo(nil, nil)
	return w.edges()
}

// edges returns the written text. At both ends, spaces and breaks are escaped. At the end of a heading, a number sign
// is escaped.
func (w *inlineWriter) edges() string {
	out, breaks := w.out.String(), ""
	for strings.HasSuffix(out, "\\\n") {
		out, breaks = strings.TrimSuffix(out, "\\\n"), breaks+"&#10;"
	}
	out += breaks
	core := strings.Trim(out, " ")
	start := strings.Index(out, core)
	out = strings.Repeat("&#x20;", start) + core + strings.Repeat("&#x20;", len(out)-start-len(core))
	if strings.HasSuffix(out, "\t") {
		out = strings.TrimRight(out, "\t") + strings.Repeat("&#9;", len(out)-len(strings.TrimRight(out, "\t")))
	}
	if w.where == inHeading && strings.HasSuffix(out, "#") && !strings.HasSuffix(out, `\#`) {
		out = out[:len(out)-1] + `\#`
	}
	return out
}

// turnTo closes and opens layers until the wanted layers are open. Of the layers to open, it opens the layer first that
// the most pieces need.
func (w *inlineWriter) turnTo(want []layer, rest [][]layer) {
	for slices.ContainsFunc(w.open, func(l layer) bool { return !slices.Contains(want, l) }) {
		last := len(w.open) - 1
		w.out.WriteString(w.delimiter(w.open[last], false))
		w.open = w.open[:last]
	}
	var missing []layer
	for _, l := range want {
		if !slices.Contains(w.open, l) {
			missing = append(missing, l)
		}
	}
	if len(missing) > 1 {
		slices.SortStableFunc(missing, func(a, b layer) int { return lasts(b, rest) - lasts(a, rest) })
	}
	for _, l := range missing {
		w.out.WriteString(w.delimiter(l, true))
		w.open = append(w.open, l)
	}
}

func (w *inlineWriter) delimiter(l layer, opening bool) string {
	switch {
	case w.form.html && opening:
		return l.htmlOpen()
	case w.form.html:
		return l.htmlClose()
	case l.mark == content.Italic:
		return w.form.italic
	case opening:
		return l.open
	}
	return l.close
}

// lookAhead is the largest number of pieces that lasts reads. It keeps the time for a line linear in the line's length.
const lookAhead = 64

func lasts(l layer, rest [][]layer) int {
	rest = rest[:min(len(rest), lookAhead)]
	for i := range rest {
		if !slices.Contains(rest[i], l) {
			return i
		}
	}
	return len(rest)
}

// code writes a span of code. In a cell of a table, a pipe must be escaped, because a bare pipe ends the cell. A pipe
// after a backslash would be read as an escaped pipe, so a text with such a pipe is written as <code>.
func (w *inlineWriter) code(text string) {
	if strings.TrimSpace(text) == "" && strings.Trim(text, " ") != "" ||
		w.where == inCell && strings.Contains(text, `\|`) {
		w.out.WriteString("<code>" + htmlCode(text) + "</code>")
		return
	}
	if w.where == inCell {
		text = strings.ReplaceAll(text, "|", `\|`)
	}
	fence := "`"
	for _, run := range backticks.FindAllString(text, -1) {
		if len(run) >= len(fence) {
			fence = run + "`"
		}
	}
	if strings.HasPrefix(text, "`") || strings.HasSuffix(text, "`") ||
		strings.Trim(text, " ") != "" && strings.HasPrefix(text, " ") && strings.HasSuffix(text, " ") {
		text = " " + text + " "
	}
	w.out.WriteString(fence + text + fence)
}
