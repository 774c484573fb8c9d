package markdown

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/yuin/goldmark/ast"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/content"
)

// place is where inlines are. Headings and cells are one line, and cells end at a pipe.
type place int

const (
	inParagraph place = iota
	inHeading
	inCell
)

// run is a stretch of text with the same marks, or something that Markdown writes as one unit: a link or an image.
type run struct {
	text  string
	marks content.Marks
	link  string // the whole link or image, as Markdown
	sign  string // what link must read back as
}

// inlineMarkdown writes inlines so that they read back as the same text. Markdown's marks do not work next to every
// character, so text with marks or links is read back as a check: if the result differs, the next plainer form is
// tried. The last form is text alone, which always works.
func inlineMarkdown(nodes []schema.Node, where place) string {
	runs := bridge(merge(runsOf(nodes, where)))
	if where != inParagraph {
		for i := range runs {
			runs[i].text = strings.ReplaceAll(runs[i].text, "\n", " ")
		}
	}
	if !slices.ContainsFunc(runs, func(r run) bool { return r.marks != 0 || r.link != "" }) {
		return writeRuns(runs, "_", where)
	}
	want := signature(runs)
	for _, italic := range []string{"_", "*"} {
		if candidate := writeRuns(runs, italic, where); signature(readRuns(candidate, where)) == want {
			return candidate
		}
	}
	for i := range runs {
		runs[i].marks &= content.Code
	}
	runs, want = merge(runs), signature(runs)
	if candidate := writeRuns(runs, "_", where); signature(readRuns(candidate, where)) == want {
		return candidate
	}
	return escapedIn(strings.ReplaceAll(content.InlineText(nodes), "\n", map[bool]string{true: "\n", false: " "}[where == inParagraph]), where)
}

func readRuns(markdown string, where place) []run {
	r := &reader{source: []byte(markdown)}
	root, _ := r.parse()
	first := root.FirstChild()
	if first == nil || first.Kind() != ast.KindParagraph {
		return nil
	}
	return merge(runsOf(r.inlines(first), where))
}

func runsOf(nodes []schema.Node, where place) []run {
	var runs []run
	for i := range nodes {
		n := &nodes[i]
		for _, leaf := range n.Leaves {
			runs = append(runs, run{text: content.Clean(leaf.Text), marks: codeIn(where, leaf)})
		}
		switch n.Type {
		case "link":
			runs = append(runs, linkRun(n, where))
		case "inline-image":
			runs = append(runs, run{link: image(n.Data["ref"], content.Member(n.Data, "alt"), content.Member(n.Data, "caption")), sign: signOf(n)})
		case "button", "mention":
			label := &schema.Node{Data: n.Data, Nodes: []schema.Node{schema.Text(content.Label(n))}}
			runs = append(runs, linkRun(label, where))
		case "inline-math":
			runs = append(runs, run{text: "$"}, run{text: content.Label(n), marks: content.Code}, run{text: "$"})
		default:
			runs = append(runs, run{text: content.Label(n)})
			runs = append(runs, runsOf(n.Nodes, where)...)
		}
		if note := content.Annotation(n); note != "" {
			runs = append(runs, run{text: " (" + note + ")"})
		}
	}
	return runs
}

// codeIn drops the code mark if Markdown cannot express the text as code.
func codeIn(where place, leaf schema.Leaf) content.Marks {
	m := content.MarksOf(leaf.Marks)
	if strings.Contains(leaf.Text, "\n") || strings.TrimSpace(leaf.Text) == "" || where == inCell && strings.Contains(leaf.Text, "|") {
		m &^= content.Code
	}
	return m
}

func signOf(n *schema.Node) string {
	return fmt.Sprintf("%s %q %q %q %s", n.Type, content.Link(n.Data["ref"]), content.Member(n.Data, "alt"), content.Member(n.Data, "caption"),
		signature(merge(runsOf(n.Nodes, inParagraph))))
}

func linkRun(n *schema.Node, where place) run {
	destination := content.Link(n.Data["ref"])
	label := inlineMarkdown(n.Nodes, where)
	sign := signOf(&schema.Node{Type: "link", Data: n.Data, Nodes: n.Nodes})
	return run{link: "[" + label + "](" + address(destination) + ")", sign: sign}
}

func image(ref any, alt, caption string) string {
	target := address(content.Link(ref))
	if caption != "" {
		target += ` "` + escapedIn(strings.ReplaceAll(caption, "\n", " "), inCell) + `"`
	}
	return "![" + escapedIn(strings.ReplaceAll(alt, "\n", " "), inCell) + "](" + target + ")"
}

// address writes the destination of a link, without brackets if it is simple.
func address(link string) string {
	link = content.Clean(link)
	if link != "" && strings.IndexFunc(link, unusual) < 0 {
		return link
	}
	return "<" + addressEscapes.Replace(link) + ">"
}

func unusual(r rune) bool { return r <= ' ' || r == 0x7f || strings.ContainsRune("\\<>()&|", r) }

var addressEscapes = strings.NewReplacer(`\`, `\\`, "<", `\<`, ">", `\>`, "&", "&amp;", "\n", "&#10;", "|", "&#124;")

// merge joins neighbours of the same form, so that escaping at an edge applies to a real edge.
func merge(runs []run) []run {
	var merged []run
	var parts []string // of the last run
	for _, r := range runs {
		last := len(merged) - 1
		switch {
		case r.link == "" && r.text == "":
		case last >= 0 && r.link == "" && merged[last].link == "" && merged[last].marks == r.marks:
			parts = append(parts, r.text)
		default:
			joinParts(merged, parts)
			merged, parts = append(merged, r), append(parts[:0], r.text)
		}
	}
	joinParts(merged, parts)
	return merged
}

func joinParts(merged []run, parts []string) {
	if len(parts) > 1 {
		merged[len(merged)-1].text = strings.Join(parts, "")
	}
}

// bridge gives spaces the marks that both neighbours share: marks on spaces are invisible, and the output should not
// depend on them.
func bridge(runs []run) []run {
	for i := range runs {
		if r := &runs[i]; r.link == "" && strings.TrimSpace(r.text) == "" {
			r.marks = 0
			if i > 0 && i+1 < len(runs) {
				r.marks = runs[i-1].marks & runs[i+1].marks &^ content.Code
			}
		}
	}
	return merge(runs)
}

// signature is what a reader sees: characters with their marks, and spaces without, because marks never end at a space.
func signature(runs []run) string {
	var b strings.Builder
	last := content.Marks(0)
	for _, r := range runs {
		if r.link != "" {
			b.WriteString("\x00" + r.sign + "\x00")
			continue
		}
		for _, c := range r.text {
			if m := r.marks; m != last && (!unicode.IsSpace(c) || m&content.Code != 0) {
				fmt.Fprintf(&b, "\x01%d\x01", m)
				last = m
			}
			b.WriteRune(c)
		}
	}
	return b.String()
}

// inlineWriter writes runs with a stack of open marks.
type inlineWriter struct {
	out    strings.Builder
	open   []content.Marks
	italic string
	where  place
}

func writeRuns(runs []run, italic string, where place) string {
	w := &inlineWriter{italic: italic, where: where}
	pending := "" // Spaces that may belong after the end of a mark.
	for i, r := range runs {
		if r.link != "" {
			w.turnTo(0, nil)
			w.text(pending, "")
			w.out.WriteString(r.link)
			pending = ""
			continue
		}
		if r.marks&content.Code != 0 {
			w.close(r.marks &^ content.Code)
			w.text(pending, "")
			w.turnTo(r.marks&^content.Code, runs[i+1:])
			w.out.WriteString(codeSpan(r.text, w.where))
			pending = ""
			continue
		}
		core := strings.TrimSpace(r.text)
		if core == "" {
			pending += r.text
			continue
		}
		start := strings.Index(r.text, core)
		w.close(r.marks)
		w.text(pending+r.text[:start], "")
		w.turnTo(r.marks, runs[i+1:])
		end := start + len(core)
		pending = r.text[end:]
		after := ""
		if pending == "" && i+1 < len(runs) {
			after = runs[i+1].link
		}
		w.text(core, after)
	}
	w.close(0)
	w.text(pending, "")
	return w.edges()
}

// edges escapes spaces and breaks at both ends, and a number sign at the end of a heading.
func (w *inlineWriter) edges() string {
	out, breaks := w.out.String(), ""
	for strings.HasSuffix(out, "\\\n") {
		out, breaks = strings.TrimSuffix(out, "\\\n"), breaks+"&#10;"
	}
	out += breaks
	core := strings.Trim(out, " ")
	start := strings.Index(out, core)
	out = strings.Repeat("&#x20;", start) + core + strings.Repeat("&#x20;", len(out)-start-len(core))
	if w.where == inHeading && strings.HasSuffix(out, "#") && !strings.HasSuffix(out, `\#`) {
		out = out[:len(out)-1] + `\#`
	}
	return out
}

// delimiter is what is written around text with the mark; italic has two forms.
func (w *inlineWriter) delimiter(m content.Marks) string {
	switch m {
	case content.Bold:
		return "**"
	case content.Strike:
		return "~~"
	case content.Italic:
		return w.italic
	default: // Code is handled separately: its delimiter depends on its text.
		return ""
	}
}

// close closes marks, innermost first, until all open ones are wanted.
func (w *inlineWriter) close(want content.Marks) {
	for slices.ContainsFunc(w.open, func(m content.Marks) bool { return want&m == 0 }) {
		last := len(w.open) - 1
		w.out.WriteString(w.delimiter(w.open[last]))
		w.open = w.open[:last]
	}
}

// turnTo closes and opens marks, and opens those that last longest first.
func (w *inlineWriter) turnTo(want content.Marks, rest []run) {
	w.close(want)
	var missing []content.Marks
	for _, m := range []content.Marks{content.Strike, content.Bold, content.Italic} {
		if want&m != 0 && !slices.Contains(w.open, m) {
			missing = append(missing, m)
		}
	}
	slices.SortStableFunc(missing, func(a, b content.Marks) int { return lasts(b, rest) - lasts(a, rest) })
	for _, m := range missing {
		w.out.WriteString(w.delimiter(m))
		w.open = append(w.open, m)
	}
}

func lasts(m content.Marks, rest []run) int {
	for i, r := range rest {
		if r.link != "" || r.marks&m == 0 {
			return i
		}
	}
	return len(rest)
}

func codeSpan(text string, where place) string {
	fence := "`"
	for _, run := range backticks.FindAllString(text, -1) {
		if len(run) >= len(fence) {
			fence = run + "`"
		}
	}
	if strings.HasPrefix(text, "`") || strings.HasSuffix(text, "`") || strings.HasPrefix(text, " ") && strings.HasSuffix(text, " ") {
		text = " " + text + " "
	}
	return fence + text + fence
}
