package markdown

import (
	"encoding/binary"
	"errors"
	"hash/maphash"
	"regexp"
	"slices"
	"sort"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content"
	"github.com/octavo-docs/octavo/schema/content/diff"
	"github.com/octavo-docs/octavo/schema/content/respell"
)

// Edit returns the Markdown of an edited document. It writes only the changes. Blocks that the original also contains
// keep their bytes. The text between these blocks keeps its bytes too. In changed blocks, unchanged words keep the
// bytes around them (respell.Words). Reading the result gives the edited document. If a new block would change the
// meaning of an unchanged block, Edit writes the whole document. Each line keeps its kind of line end (respell.Ends).
func Edit(original string, edited schema.Document) string {
	source := content.Clean(original)
	return respell.Ends(original, editLines(source, edited))
}

// editLines does the same as Edit. The function content.Clean must leave the source unchanged.
func editLines(source string, edited schema.Document) string {
	units, read, ok := unitsOf(source)
	if !ok {
		return Write(edited) + finalNewline(source)
	}
	edited = withoutBrokenTags(edited)
	want := edited.Nodes
	kept := matchUnits(units, want)
	for _, attempt := range []struct {
		spelling spelling
		margin   int
	}{{spelling: ofReferences}, {spelling: ofSource}, {spelling: ofSourceIfAlone}, {}, {margin: 1}} {
		if attempt.spelling == ofReferences && len(read.links) == 0 {
			continue
		}
		kept := widened(kept, attempt.margin)
		s := splicer{source: source, units: units, want: want, spelling: attempt.spelling, read: read}
		if s.spelling == ofSourceIfAlone {
			s.alone = newAloneReader(source, units)
		}
		if text, ok := s.splice(kept); ok && readsAs(text, expected(units, want, kept)) {
			return text
		}
	}
	return Write(edited) + finalNewline(source)
}

// withoutBrokenTags removes paragraphs that store invisible tags, if these tags would change how the other blocks are
// read. For example, an edit may remove an end tag, and other tags may then form a pair.
func withoutBrokenTags(d schema.Document) schema.Document {
	tag := func(n schema.Node) bool {
		_, ok := readTagLine([]byte(keptSource(&n)))
		return ok && len(content.Plain(schema.NewDocument(n))) == 0
	}
	if !slices.ContainsFunc(d.Nodes, tag) || showsSame(d, d) {
		return d
	}
	bare := d
	bare.Nodes = slices.DeleteFunc(slices.Clone(d.Nodes), tag)
	if len(bare.Nodes) > 0 && showsSame(bare, d) {
		return bare
	}
	return d
}

// showsSame reports whether readers see the same text in the two documents, after the document written is written as
// Markdown and read again.
func showsSame(written, d schema.Document) bool {
	again, err := Read(Write(written))
	words := func(d schema.Document) []string { return strings.Fields(content.Plain(d)) }
	return err == nil && strings.Join(words(again), "") == strings.Join(words(d), "")
}

// expected returns the blocks that reading the result must return. Unchanged blocks stay. Every other block gets the
// form that Read returns for it, because a client's block may have data that Markdown cannot express.
func expected(units []unit, want []schema.Node, kept []int) []schema.Node {
	var nodes []schema.Node
	next := 0
	for i, u := range units {
		if kept[i] >= 0 && len(u.nodes) > 0 {
			nodes = append(append(nodes, fittedOf(want[next:max(next, kept[i])])...), u.nodes...)
			next = kept[i] + len(u.nodes)
		}
	}
	return append(nodes, fittedOf(want[next:])...)
}

func fittedOf(nodes []schema.Node) []schema.Node {
	if len(nodes) == 0 {
		return nil
	}
	again, err := Read(Write(schema.NewDocument(slices.Clone(nodes)...)))
	if err != nil {
		return nodes
	}
	return again.Nodes
}

func readsAs(markdown string, want []schema.Node) bool {
	d, err := Read(markdown)
	return err == nil && sameNodes(d.Nodes, want)
}

// hashes returns a hash of each node. The hash does not depend on keys.
func hashes(nodes []schema.Node) []uint64 {
	list := make([]uint64, len(nodes))
	for i := range nodes {
		text, err := json.Marshal(bareNode(nodes[i]))
		if err != nil { // cannot happen, because the node came from JSON or from Read
			text = binary.AppendUvarint(nil, uint64(i))
		}
		list[i] = maphash.Bytes(hashSeed, text)
	}
	return list
}

var hashSeed = maphash.MakeSeed()

// bareNode returns a node without keys, and without the anchor ids that blocks get when they are stored.
func bareNode(n schema.Node) schema.Node {
	n.Key = ""
	if _, ok := n.Meta["id"]; ok {
		meta := schema.Data{}
		for name, value := range n.Meta {
			if name != "id" {
				meta[name] = value
			}
		}
		if n.Meta = meta; len(meta) == 0 {
			n.Meta = nil
		}
	}
	n.Nodes, n.Fragments = bareAll(n.Nodes), bareAll(n.Fragments)
	return n
}

func bareAll(nodes []schema.Node) []schema.Node {
	if nodes == nil {
		return nil
	}
	all := make([]schema.Node, len(nodes))
	for i := range nodes {
		all[i] = bareNode(nodes[i])
	}
	return all
}

// matchUnits returns, for each unit, the index of its first node in the wanted document. It returns -1 if the document
// does not contain the whole unit.
func matchUnits(units []unit, want []schema.Node) []int {
	var have []schema.Node
	for _, u := range units {
		have = append(have, u.nodes...)
	}
	partner := diff.Match(hashes(have), hashes(want))
	kept, at := make([]int, len(units)), 0
	for i, u := range units {
		kept[i] = -1
		whole := len(u.nodes) > 0
		for j := range u.nodes {
			whole = whole && partner[at+j] != diff.None && partner[at+j] == partner[at]+j &&
				sameNode(&u.nodes[j], &want[partner[at]+j])
		}
		if whole {
			kept[i] = partner[at]
		}
		at += len(u.nodes)
	}
	placeDefinitions(units, kept, len(want))
	dropNotes(units, kept, want)
	return kept
}

// placeDefinitions finds places for units without nodes, such as definitions. If the unit was behind n blocks that were
// replaced, its new place is behind the first n new blocks.
func placeDefinitions(units []unit, kept []int, end int) {
	limits := make([]int, len(units)) // the place of the next unchanged unit
	for i := len(units) - 1; i >= 0; i-- {
		if kept[i] >= 0 {
			end = kept[i]
		}
		limits[i] = end
	}
	place := 0
	for i, u := range units {
		switch {
		case kept[i] >= 0:
			place = kept[i] + len(u.nodes)
		case len(u.nodes) == 0:
			kept[i] = min(place, limits[i])
		default:
			place += len(u.nodes)
		}
	}
}

// widened returns `kept`, but also marks the neighbours of changed units as changed, up to margin units away.
func widened(kept []int, margin int) []int {
	wide := slices.Clone(kept)
	for i := range kept {
		for j := max(0, i-margin); j <= min(len(kept)-1, i+margin); j++ {
			if kept[j] < 0 {
				wide[i] = -1
			}
		}
	}
	return wide
}

// splicer writes the wanted document, using parts of the source.
type splicer struct {
	source   string
	units    []unit
	want     []schema.Node
	read     *markdownState // the state of the parsers that have read the source
	spelling spelling
	alone    *aloneReader // for the spelling ofSourceIfAlone
}

// spelling is the notation in which edited blocks are written.
type spelling int

const (
	ofWrite spelling = iota
	ofSource
	// ofReferences is ofSource, but a link whose target is in a definition stays such a link if its text changes.
	ofReferences
	// ofSourceIfAlone uses ofReferences or ofSource if the text of the blocks, without the text around it, is read as
	// the wanted blocks. Otherwise it uses ofWrite.
	ofSourceIfAlone
)

// splice writes the wanted document. Unchanged units and the text between them keep their bytes.
func (s splicer) splice(kept []int) (string, bool) {
	var b strings.Builder
	w := writer{notes: newNoteList(s.want)}
	next := 0              // the next node to write
	last, copied := -1, -1 // last is the last copied unit; copied is the unit with which the written text ends, or -1
	// notes has the positions of the footnotes' definitions in the written text.
	notes := map[string]int{}
	write := func(to, before int) {
		text := w.blocks(s.want[next:to])
		next = to
		if text == "" {
			return
		}
		first := last + 1
		if s.spelling != ofWrite && first < before {
			if spelled, ok := s.spelled(s.units[first:before], text); ok {
				b.WriteString(gapOf(s.source, s.units, first) + spelled)
				copied = before - 1
				return
			}
		}
		gap := ""
		if copied >= 0 && copied+1 < len(s.units) {
			gap = gapOf(s.source, s.units, copied+1)
		}
		b.WriteString(gapFrom(b.String(), gap, text) + text)
		copied = -1
	}
	for i, u := range s.units {
		if kept[i] < 0 {
			continue
		}
		if kept[i] < next {
			return "", false
		}
		write(kept[i], i)
		if gap := gapOf(s.source, s.units, i); copied == i-1 && (copied >= 0 || b.Len() == 0) {
			b.WriteString(gap)
		} else {
			b.WriteString(gapFrom(b.String(), gap, s.source[u.from:u.to]))
		}
		notes[u.note] = b.Len()
		b.WriteString(s.source[u.from:u.to])
		next, last, copied = next+len(u.nodes), i, i
	}
	write(len(s.want), len(s.units))
	for i, label := range w.notes.labels {
		if s.read.notes[label] == nil {
			b.WriteString(gapFrom(b.String(), "", "") + footnote(label, w.notes.bodies[i]))
		}
	}
	if b.Len() > 0 || len(s.units)+len(s.want) == 0 {
		b.WriteString(gapOf(s.source, s.units, len(s.units)))
	}
	return s.withNotes(b.String(), w.notes, notes), true
}

// spelled returns the text of blocks that replace units, in the units' spelling. The second result is false if this
// text would be read as other blocks. The caller then must not use the text.
func (s splicer) spelled(units []unit, text string) (string, bool) {
	var old []schema.Node
	for _, u := range units {
		old = append(old, u.nodes...)
	}
	from, to := units[0].from, units[len(units)-1].to
	before := (writer{notes: newNoteList(old)}).blocks(old)
	plain := func() string { return respell.Words(s.source[from:to], before, text) }
	referring := func() string { return s.referring(from, to, before, text) }
	switch s.spelling {
	case ofSource:
		return plain(), true
	case ofReferences:
		return referring(), true
	case ofSourceIfAlone, ofWrite:
	}
	want, err := s.alone.read(text)
	if err != nil {
		return "", false
	}
	for _, spell := range []func() string{referring, plain} {
		result := spell()
		if got, err := s.alone.read(result); err == nil && sameNodes(got.Nodes, want.Nodes) {
			return result, true
		}
	}
	return "", false
}

// aloneReader reads texts without the text around them, but with the definitions of their page. left is the number of
// bytes that it may still read. A page may have thousands of changed blocks and of definitions.
type aloneReader struct {
	definitions string
	left        int
}

// maxAlone bounds the bytes that an aloneReader reads.
const maxAlone = 4 * schema.MaxPage

var errReadEnough = errors.New("the texts are longer than an aloneReader reads")

func newAloneReader(source string, units []unit) *aloneReader {
	var definitions strings.Builder
	for _, u := range units {
		if len(u.nodes) == 0 {
			definitions.WriteString("\n\n" + source[u.from:u.to])
		}
	}
	return &aloneReader{definitions.String(), maxAlone}
}

// read reads a text. It returns an error if it has read maxAlone bytes before.
func (r *aloneReader) read(text string) (schema.Document, error) {
	if r.left -= len(text) + len(r.definitions); r.left < 0 {
		return schema.Document{}, errReadEnough
	}
	return Read(text + r.definitions)
}

// referring returns next in the spelling of a part of the source, with the references of this part.
func (s splicer) referring(from, to int, before, next string) string {
	if !respell.Fits(s.source[from:to], before, next) {
		return next // So the links in angle brackets need not be written.
	}
	return respell.References(s.source[from:to], before, next, s.links(from, to))
}

// links returns the references in a part of the source, with their positions in this part. The target of a link in
// angle brackets is the text that Write writes for the link.
func (s splicer) links(from, to int) (list []respell.Reference) {
	first := sort.Search(len(s.read.links), func(i int) bool { return s.read.links[i].From >= from })
	for _, r := range s.read.links[first:] {
		if r.To > to {
			break
		}
		if r.Target == "" {
			r.Target = writtenAutoLink(s.source[r.From:r.To])
		}
		r.From, r.To = r.From-from, r.To-from
		list = append(list, r)
	}
	return list
}

// simpleAutoLink matches links in angle brackets that Write writes without escapes.
var simpleAutoLink = regexp.MustCompile(`^<https?://[\w./:@?=%+,#&-]+>$`)

// writtenAutoLink returns the text that Write writes for a link in angle brackets.
func writtenAutoLink(source string) string {
	if simpleAutoLink.MatchString(source) {
		address := source[1 : len(source)-1]
		return "[" + address + "](" + address + ")"
	}
	d, err := Read(source)
	if err != nil { // cannot happen, because the text is one link
		return source
	}
	return Write(d)
}

// gapOf returns the text between unit i and the previous unit.
func gapOf(source string, units []unit, i int) string {
	from, to := 0, len(source)
	if i > 0 {
		from = units[i-1].to
	}
	if i < len(units) {
		to = units[i].from
	}
	return source[from:to]
}

// gapFrom returns the separator of two blocks that were not neighbours. gap is a separator in the source. If `gap` has
// enough line breaks, gapFrom returns `gap`. Next to a tag, one line break is enough.
func gapFrom(written, gap, next string) string {
	if written == "" {
		return ""
	}
	needed := gapAfter(written)
	if strings.HasPrefix(next, "{% end") || strings.HasSuffix(written, "%}") && gap == "\n" {
		needed = "\n"
	}
	if strings.Count(gap, "\n") < len(needed) {
		return needed
	}
	return gap
}

func finalNewline(original string) string {
	if strings.HasSuffix(original, "\n") {
		return "\n"
	}
	return ""
}
