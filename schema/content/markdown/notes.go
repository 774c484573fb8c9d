package markdown

import (
	"slices"
	"strconv"
	"strings"

	"github.com/yuin/goldmark/ast"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content"
)

// A footnote is an annotation of a document: [words](#user-content-fn-1)[^1], and [^1]: note. If no link precedes the
// reference, the annotation has no words, because it is not known which words the note explains.

// note reads the content of a footnote.
func (r *reader) note(label string) ([]schema.Node, bool) {
	block := r.state.notes[label]
	if block == nil {
		_, known := r.state.labels[label]
		return nil, known
	}
	if r.inNote {
		return nil, false
	}
	size := 0
	if last := block.LastChild(); last != nil {
		size = extent(block)
	}
	if r.state.expanded += size; r.state.expanded > r.state.maxExpanded {
		return nil, false
	}
	outer, cell, heading := r.block, r.inCell, r.inHeading
	r.inNote, r.inCell, r.inHeading = true, false, false
	body := r.blocks(block)
	r.block, r.inNote, r.inCell, r.inHeading = outer, false, cell, heading
	return filled(body), true
}

// extent estimates the work of reading a block. The unit is bytes.
func extent(n ast.Node) int {
	size := 16
	if n.Type() == ast.TypeBlock {
		size += 16 * n.Lines().Len()
		for i := range n.Lines().Len() {
			line := n.Lines().At(i)
			size += line.Len()
		}
		for child := n.FirstChild(); child != nil; child = child.NextSibling() {
			if child.Type() == ast.TypeBlock {
				size += extent(child)
			}
		}
	}
	return size
}

// noteDefinition is the type of the node that temporarily replaces a footnote's definition. settleNotes removes such
// nodes when all references are known.
const noteDefinition = "note-definition"

func (r *reader) noteBlock(n ast.Node) []schema.Node {
	note := n.(*noteBlock)
	return []schema.Node{{Type: noteDefinition, Data: schema.Data{"label": note.label}}}
}

// settleNotes removes the definitions that became annotations. It replaces other definitions by their source.
func (r *reader) settleNotes(nodes []schema.Node) []schema.Node {
	settled := nodes[:0]
	for _, n := range nodes {
		if n.Type == noteDefinition {
			label := content.Member(n.Data, "label")
			if r.expandedNotes[label] {
				continue
			}
			r.inNote = true
			body := r.blocks(r.state.notes[label])
			r.inNote = false
			n = rawBlock(footnote(label, (writer{}).blocks(body)))
		}
		if len(n.Nodes) > 0 {
			n.Nodes = filled(r.settleNotes(n.Nodes))
		}
		for i := range n.Fragments {
			if len(n.Fragments[i].Nodes) > 0 {
				n.Fragments[i].Nodes = filled(r.settleNotes(n.Fragments[i].Nodes))
			}
		}
		settled = append(settled, n)
	}
	return settled
}

// footnote returns the Markdown of a footnote's definition.
func footnote(label, body string) string {
	return strings.TrimRight("[^"+label+"]: "+strings.TrimPrefix(indented(body, "    "), "    "), " ")
}

func newNoteList(nodes []schema.Node) *noteList {
	l := &noteList{taken: map[string]bool{}, at: map[string]int{}, next: 1}
	l.take(nodes)
	return l
}

func (l *noteList) take(nodes []schema.Node) {
	for i := range nodes {
		n := &nodes[i]
		l.takeFrom(keptSource(n), true)
		for _, leaf := range n.Leaves {
			if styleOf(leaf.Marks).raw {
				l.takeFrom(leaf.Text, false)
			}
		}
		l.take(n.Nodes)
		l.take(n.Fragments)
	}
}

func (l *noteList) takeFrom(source string, block bool) {
	for _, match := range noteRefs.FindAllStringSubmatch(source, -1) {
		l.taken[match[1]] = l.taken[match[1]] || block
	}
}

// keptReferences returns the labels of the references that are stored as source.
func keptReferences(pieces []piece) map[string]int {
	labels := map[string]int{}
	for i := range pieces {
		if match := noteRef.FindSubmatch(pieces[i].text); pieces[i].raw && match != nil {
			labels[string(match[1])] = i
		}
	}
	return labels
}

// label returns the label of an annotation. If the note is not yet in the list, label adds it.
func (l *noteList) label(n *schema.Node) string {
	wanted := content.Member(n.Meta, "label")
	if l.echo {
		return wanted
	}
	body := noteBody(n)
	i, listed := l.at[wanted]
	if listed && l.bodies[i] == body {
		return wanted
	}
	if listed || l.taken[wanted] || noteRef.FindString("[^"+wanted+"]") != "[^"+wanted+"]" {
		wanted = l.number()
	}
	l.at[wanted] = len(l.labels)
	l.labels, l.bodies = append(l.labels, wanted), append(l.bodies, body)
	return wanted
}

// number returns the lowest number that is not yet a label.
func (l *noteList) number() string {
	for ; ; l.next++ {
		number := strconv.Itoa(l.next)
		_, taken := l.taken[number]
		if _, listed := l.at[number]; !taken && !listed {
			return number
		}
	}
}

// noteBody returns the Markdown of an annotation's note.
func noteBody(n *schema.Node) string {
	bodies := make([]string, len(n.Fragments))
	for i := range n.Fragments {
		bodies[i] = (writer{parent: fragmentNote}).blocks(n.Fragments[i].Nodes)
	}
	return paragraphs(bodies...)
}

// eachNote visits the annotations of a document, with their labels.
func eachNote(nodes []schema.Node, visit func(label string, n *schema.Node)) {
	for i := range nodes {
		n := &nodes[i]
		if n.Type == "annotation" {
			visit(content.Member(n.Meta, "label"), n)
		}
		eachNote(n.Nodes, visit)
		eachNote(n.Fragments, visit)
	}
}

// definitions returns the Markdown of all footnotes' definitions.
func (l *noteList) definitions() string {
	parts := make([]string, len(l.labels))
	for i, label := range l.labels {
		parts[i] = footnote(label, l.bodies[i])
	}
	return paragraphs(parts...)
}

// annotation returns the Markdown of annotated words, followed by the reference to their footnote.
func annotation(words, label string) string {
	if words == "" {
		return "[^" + label + "]"
	}
	return "[" + words + "](#user-content-fn-" + label + ")[^" + label + "]"
}

// dropNotes marks the definitions of footnotes to which the wanted document no longer refers as removed.
func dropNotes(units []unit, kept []int, want []schema.Node) {
	if !slices.ContainsFunc(units, func(u unit) bool { return u.note != "" }) {
		return
	}
	used := newNoteList(want).taken
	eachNote(want, func(label string, _ *schema.Node) { used[label] = true })
	for i, u := range units {
		if _, is := used[u.note]; u.note != "" && !is {
			kept[i] = -1
		}
	}
}

// withNotes replaces the definitions of the footnotes whose text has changed. `at` has the positions of the definitions
// in the written text.
func (s splicer) withNotes(written string, notes *noteList, at map[string]int) string {
	delete(at, "")
	if len(at) == 0 || len(notes.labels) == 0 {
		return written
	}
	before := map[string]*schema.Node{}
	for _, u := range s.units {
		eachNote(u.nodes, func(label string, n *schema.Node) { before[label] = n })
	}
	after := map[string]string{}
	for i, label := range notes.labels {
		after[label] = notes.bodies[i]
	}
	var b strings.Builder
	done := 0
	for _, u := range s.units {
		from, there := at[u.note]
		body, is := after[u.note]
		if !there || !is || before[u.note] == nil {
			continue
		}
		old, next := footnote(u.note, noteBody(before[u.note])), footnote(u.note, body)
		if old == next {
			continue
		}
		if s.spelling != ofWrite {
			next = s.referring(u.from, u.to, old, next)
		}
		b.WriteString(written[done:from] + next)
		done = from + u.to - u.from
	}
	return b.String() + written[done:]
}
