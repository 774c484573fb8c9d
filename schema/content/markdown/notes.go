package markdown

import (
	"bytes"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content"
)

// A footnote is an annotation of a document: [words](#user-content-fn-1)[^1], and [^1]: note. Words without a link before
// the reference are not known to belong to it, and the annotation has none.

// noteBlock is a definition: [^label]: blocks.
type noteBlock struct {
	ast.BaseBlock
	label string
}

var kindNote = ast.NewNodeKind("Note")

func (n *noteBlock) Kind() ast.NodeKind { return kindNote }

// Dump is for goldmark's debugging.
func (n *noteBlock) Dump(source []byte, level int) {
	ast.DumpHelper(n, source, level, map[string]string{"Label": n.label}, nil)
}

var (
	noteOpens = regexp.MustCompile(`^ {0,3}\[\^([^\s\[\]^\\]{1,60})\]:`)
	noteRef   = regexp.MustCompile(`^\[\^([^\s\[\]^\\]{1,60})\]`)
	noteRefs  = regexp.MustCompile(`\[\^([^\s\[\]^\\]{1,60})\]`)
	noteLink  = regexp.MustCompile(`^#(?:user-content-)?fn-`)
)

type noteParser struct{}

func (noteParser) Trigger() []byte { return []byte{'['} }

func (noteParser) Open(_ ast.Node, reader text.Reader, pc parser.Context) (ast.Node, parser.State) {
	line, segment := reader.PeekLine()
	match := noteOpens.FindSubmatch(line)
	if match == nil || segment.Padding > 0 {
		return nil, parser.NoChildren
	}
	notes, label := stateOf(pc).notes, string(match[1])
	if notes[label] != nil {
		return nil, parser.NoChildren // The first definition counts. Others are text.
	}
	note := &noteBlock{label: label}
	notes[label] = note
	reader.Advance(len(match[0]))
	return note, parser.HasChildren
}

func (noteParser) Continue(_ ast.Node, reader text.Reader, _ parser.Context) parser.State {
	line, segment := reader.PeekLine()
	at, padding := util.IndentPosition(line, reader.LineOffset(), 4)
	switch {
	case at < 0 && util.IsBlank(line):
		advanceToEnd(reader, line, segment)
		return parser.Continue | parser.HasChildren
	case at < 0:
		return parser.Close
	}
	reader.AdvanceAndSetPadding(at, padding)
	return parser.Continue | parser.HasChildren
}

func (noteParser) Close(ast.Node, text.Reader, parser.Context) {}
func (noteParser) CanInterruptParagraph() bool                 { return true }
func (noteParser) CanAcceptIndentedLine() bool                 { return false }

// noteReference is [^label] of a label that has a definition.
type noteReference struct {
	ast.BaseInline
	label string
}

var kindNoteReference = ast.NewNodeKind("NoteReference")

func (n *noteReference) Kind() ast.NodeKind { return kindNoteReference }

// Dump is for goldmark's debugging.
func (n *noteReference) Dump(source []byte, level int) {
	ast.DumpHelper(n, source, level, map[string]string{"Label": n.label}, nil)
}

type noteReferenceParser struct{}

func (noteReferenceParser) Trigger() []byte { return []byte{'['} }

func (noteReferenceParser) Parse(_ ast.Node, block text.Reader, pc parser.Context) ast.Node {
	line, _ := block.PeekLine()
	if len(line) < 4 || line[1] != '^' {
		return nil
	}
	match := noteRef.FindSubmatch(line[:min(len(line), 4*64)])
	s := stateOf(pc)
	if match == nil || s.notes[string(match[1])] == nil && !slices.Contains(s.labels, string(match[1])) {
		return nil
	}
	block.Advance(len(match[0]))
	return &noteReference{label: string(match[1])}
}

func (r *reader) noteReference(b *inlineBuilder, n *noteReference) {
	if link, ok := n.PreviousSibling().(*ast.Link); ok && noteLink.Match(link.Destination) && r.annotated[n] {
		return
	}
	r.annotate(b, nil, n)
}

// annotate adds an annotation: of the link's text, if there is a link. References in notes and in links stay as they are,
// and so do those that would repeat long notes too often.
func (r *reader) annotate(b *inlineBuilder, link *ast.Link, n *noteReference) {
	body, ok := r.note(n.label)
	words := []schema.Node{}
	if link != nil {
		words = r.children(b, link)
		ok = ok && !slices.ContainsFunc(words, func(w schema.Node) bool { return w.Object != schema.ObjectText })
	}
	if !ok || b.inLink || r.inNote {
		if link != nil {
			r.link(b, unescape(link.Destination), unescape(link.Title), words)
		} else {
			b.source("[^" + n.label + "]")
		}
		return
	}
	if link != nil {
		if r.annotated == nil {
			r.annotated = map[*noteReference]bool{}
		}
		r.annotated[n] = true
	}
	r.expandedNotes[n.label] = true
	b.add(schema.Node{Type: "annotation", Meta: schema.Data{"label": n.label}, Nodes: words, Fragments: []schema.Node{{
		Object: schema.ObjectFragment, Type: fragmentNote, Nodes: body,
	}}})
}

const fragmentNote = "annotation-body"

// note reads the content of a footnote.
func (r *reader) note(label string) ([]schema.Node, bool) {
	block := r.state.notes[label]
	if block == nil {
		return nil, slices.Contains(r.state.labels, label)
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

// extent estimates how much there is to read in a block.
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

// noteDefinition is the kind of node that stands for a definition until all references are known.
const noteDefinition = "note-definition"

func (r *reader) noteBlock(n ast.Node) []schema.Node {
	note := n.(*noteBlock)
	return []schema.Node{{Type: noteDefinition, Data: schema.Data{"label": note.label}}}
}

// settleNotes removes the definitions that became annotations, and keeps the source of the others.
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
			n = rawBlock(definition(label, (writer{}).blocks(body)))
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

// definition writes a footnote.
func definition(label, body string) string {
	return strings.TrimRight("[^"+label+"]: "+strings.TrimPrefix(indented(body, "    "), "    "), " ")
}

// noteList collects the footnotes of a document that is written.
type noteList struct {
	echo           bool // annotations keep the labels that they were read with
	labels, bodies []string
	// taken has the labels in Markdown that is written as it is: true for those in blocks, which may be another document's. A reference
	// within a line is kept as it is only if it has a definition, which is the note of that label.
	taken map[string]bool
}

func newNoteList(nodes []schema.Node) *noteList {
	l := &noteList{taken: map[string]bool{}}
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

// keptReferences returns the labels of the references that are kept as they are.
func keptReferences(pieces []piece) []string {
	var labels []string
	for i := range pieces {
		if match := noteRef.FindSubmatch(pieces[i].text); pieces[i].raw && match != nil {
			labels = append(labels, string(match[1]))
		}
	}
	return labels
}

// label returns the label of an annotation, and adds its note if that is a new one.
func (l *noteList) label(n *schema.Node) string {
	wanted := content.Member(n.Meta, "label")
	if l.echo {
		return wanted
	}
	body := ""
	for i := range n.Fragments {
		body = paragraphs(body, (writer{parent: fragmentNote}).blocks(n.Fragments[i].Nodes))
	}
	if i := slices.Index(l.labels, wanted); i >= 0 && l.bodies[i] == body {
		return wanted
	}
	if !noteRef.MatchString("[^"+wanted+"]") || noteRef.FindString("[^"+wanted+"]") != "[^"+wanted+"]" || l.taken[wanted] || slices.Contains(l.labels, wanted) {
		for number := 1; ; number++ {
			wanted = strconv.Itoa(number)
			if _, taken := l.taken[wanted]; !taken && !slices.Contains(l.labels, wanted) {
				break
			}
		}
	}
	l.labels, l.bodies = append(l.labels, wanted), append(l.bodies, body)
	return wanted
}

// definitions writes the notes.
func (l *noteList) definitions() string {
	parts := make([]string, len(l.labels))
	for i, label := range l.labels {
		parts[i] = definition(label, l.bodies[i])
	}
	return paragraphs(parts...)
}

// annotation writes words with a reference to their note.
func annotation(words, label string) string {
	if words == "" {
		return "[^" + label + "]"
	}
	return "[" + words + "](#user-content-fn-" + label + ")[^" + label + "]"
}

func numericReference(c byte) string { return "&#" + strconv.Itoa(int(c)) + ";" }

func trimNewline(line []byte) []byte { return bytes.TrimRight(line, "\r\n") }
