package merge

import (
	"maps"
	"slices"
	"strings"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content/keys"
)

// Documents merges two documents that come from one base. Blocks with equal keys are versions of one block. Blocks
// without a key first get keys as in keys.Assign. In a conflict, the result has the chosen version. Without a choice,
// it has the version of `ours`. If the result is an unchanged side, its blocks stay as they are. Otherwise all blocks
// of the result have keys.
func Documents(base, ours, theirs schema.Document, choices Choices) (schema.Document, []Conflict) {
	l := &conflicts{choices: choices, listed: map[string]bool{}}
	return mergeDocuments(l, base, ours, theirs), l.list
}

func mergeDocuments(l *conflicts, base, ours, theirs schema.Document) schema.Document {
	switch {
	case equal(base, theirs), equal(ours, theirs):
		return ours
	case equal(base, ours):
		return theirs
	}
	m := newMerger(l.page, l.choices, base, ours, theirs)
	merged, ok := m.document(ours, base, theirs)
	if ok {
		l.list = append(l.list, m.conflicts.list...)
		return merged
	}
	take, value := l.decide(Conflict{Kind: KindDocument, Base: base, Ours: ours, Theirs: theirs, value: documentValue})
	switch take {
	case TakeTheirs:
		return theirs
	case TakeValue:
		return value.(schema.Document)
	}
	return ours
}

// merger merges the blocks of documents.
type merger struct {
	conflicts          conflicts
	base, ours, theirs *side
	// dead has the keys of the blocks that are not in the result. If a choice replaces a block by a value, `replaced`
	// has the blocks of this value.
	dead     map[string]bool
	replaced map[string][]schema.Node
	// settled has the blocks for which the function replacement has decided. `bare` has the deleted blocks that the
	// deleting side did not replace.
	settled, bare map[string]bool
	// lists has, for each place, the keys of the result's blocks in order.
	lists map[spot][]string
	// anchors maps each anchor of `ours` to the key of the block to which it leads.
	anchors map[string]string
	emitted int // number of blocks of the result that were made
	// kept has, for each side, the texts that are in the result although this side deleted them. `compared` is the
	// number of blocks that were compared with such texts.
	kept     map[*side]*passage
	compared int
}

func newMerger(page string, choices Choices, base, ours, theirs schema.Document) *merger {
	with := func(d schema.Document, before *schema.Document) []schema.Node {
		d.Nodes = keys.Clone(d.Nodes)
		if !keys.Complete(d) {
			keys.Assign(&d, before)
		}
		return d.Nodes
	}
	b := schema.Document{Nodes: with(base, nil)}
	o, t := with(ours, &b), with(theirs, &b)
	m := &merger{
		conflicts: conflicts{
			page: page, choices: choices, listed: map[string]bool{},
		}, dead: map[string]bool{}, replaced: map[string][]schema.Node{},
		settled: map[string]bool{}, bare: map[string]bool{},
		anchors: map[string]string{}, kept: map[*side]*passage{},
	}
	o = expand(o)
	m.base, m.ours = newSide(expand(b.Nodes)), newSide(o)
	m.estrange(t)
	t = expand(t)
	m.estrange(t)
	m.theirs = newSide(t)
	m.unite(o, t)
	for key, block := range m.ours.blocks {
		if anchor, ok := block.node.Meta["id"].(string); ok {
			m.anchors[anchor] = key
		}
	}
	return m
}

// estrange renames blocks that `theirs` added. It renames a block if `ours` added another block with the same key. Keys
// are derived from content, so two blocks have the same key if both sides wrote the same content at different places.
func (m *merger) estrange(nodes []schema.Node) {
	for i := range nodes {
		n := &nodes[i]
		if n.Object == schema.ObjectBlock && m.base.blocks[n.Key] == nil && m.ours.blocks[n.Key] != nil {
			n.Key = foreign + n.Key
		}
		if !holdsText(n) {
			m.estrange(n.Nodes)
		}
		m.estrange(n.Fragments)
	}
}

// document merges the sides. The second result is false if the merge would make an invalid document. The caller then
// adds one conflict of the documents.
func (m *merger) document(ours, base, theirs schema.Document) (schema.Document, bool) {
	if m.base.broken || m.ours.broken || m.theirs.broken {
		return ours, false
	}
	m.deletions(m.ours, m.theirs, TakeOurs)
	m.deletions(m.theirs, m.ours, TakeTheirs)
	m.place()
	merged := ours
	merged.Data = m.members("", "data", base.Data, ours.Data, theirs.Data)
	merged.Meta = m.members("", "meta", base.Meta, ours.Meta, theirs.Meta)
	merged.Nodes = m.build(spot{})
	if m.emitted != m.alive() {
		return merged, false
	}
	merged.Nodes = collapseAll(merged.Nodes)
	if merged.Nodes == nil {
		merged.Nodes = []schema.Node{}
	}
	merged.Normalize()
	keys.Assign(&merged, nil)
	if len(merged.Problems("")) == 0 {
		return merged, true
	}
	// If a side already had problems, the merge did not cause the problems of the result.
	return merged, len(ours.Problems(""))+len(theirs.Problems("")) > 0
}

// deletions handles the blocks that one side deleted. Such a block is deleted if the other side did not change it, move
// it or add blocks to it. Otherwise there is one conflict for the topmost deleted block.
func (m *merger) deletions(deleter, other *side, whose string) {
	var visit func(key string)
	visit = func(key string) {
		if deleter.blocks[key] == nil && m.base.blocks[key] != nil {
			m.deletion(key, deleter, other, whose)
			m.survivors(key, deleter, other, visit)
			return
		}
		other.below(key, visit)
	}
	for _, key := range other.lists[spot{}] {
		visit(key)
	}
}

// survivors visits blocks that are below a deleted block on the other side. It visits only blocks that the deleting
// side does not have.
func (m *merger) survivors(key string, deleter, other *side, visit func(key string)) {
	other.below(key, func(child string) {
		if deleter.blocks[child] != nil {
			visit(child)
		} else {
			m.survivors(child, deleter, other, visit)
		}
	})
}

func (m *merger) deletion(key string, deleter, other *side, whose string) {
	if m.dead[key] || m.settled[key] {
		return
	}
	if !m.edited(key, deleter, other) {
		m.kill(key, deleter, other)
		return
	}
	if m.replacement(key, deleter, other, whose) {
		return
	}
	block, path := blockOf(key, "")
	c := Conflict{
		Kind: KindDelete, Block: block, Path: path, value: blockValue,
		Base: m.base.version(key), Ours: m.ours.version(key), Theirs: m.theirs.version(key),
	}
	if path != "" {
		c.value = noValue // A choice cannot give a record, because a record is not a block.
	}
	take, value := m.conflicts.decide(c)
	switch {
	case take == TakeValue:
		m.kill(key, deleter, other)
		delete(m.dead, key)
		n := value.(schema.Node)
		n.Key = block
		m.replaced[key] = []schema.Node{n}
	case take == whose:
		m.kill(key, deleter, other)
	default:
		m.keep(deleter, other, key)
	}
}

// edited reports whether the other side changed a block that the deleting side deleted, or changed a block below it.
func (m *merger) edited(key string, deleter, other *side) bool {
	was, is := m.base.blocks[key], other.blocks[key]
	if was == nil || was.own != is.own || was.place != is.place {
		return true
	}
	edited := false
	other.below(key, func(child string) {
		switch {
		case edited:
		case deleter.blocks[child] == nil:
			edited = m.edited(child, deleter, other)
		// The deleting side moved the child. The block is edited if the other side added the child or moved it here.
		default:
			was := m.base.blocks[child]
			edited = was == nil || was.place != other.blocks[child].place
		}
	})
	return edited
}

// kill removes a deleted block. It also removes the block's descendants on the other side that the deleting side does
// not have.
func (m *merger) kill(key string, deleter, other *side) {
	m.dead[key] = true
	other.below(key, func(child string) {
		if deleter.blocks[child] == nil {
			m.kill(child, deleter, other)
		}
	})
}

// place puts each block of the result into its list, and orders the lists.
func (m *merger) place() {
	placed := map[spot]map[string]bool{}
	var spots []spot
	put := func(key string) {
		if m.dead[key] {
			return
		}
		at := m.spotOf(key)
		if placed[at] == nil {
			placed[at] = map[string]bool{}
			spots = append(spots, at)
		}
		placed[at][key] = true
	}
	m.ours.each(put)
	m.theirs.each(func(key string) {
		if m.ours.blocks[key] == nil {
			put(key)
		}
	})
	m.lists = map[spot][]string{}
	for _, at := range spots {
		here := func(list []string) []string {
			return slices.DeleteFunc(slices.Clone(list), func(key string) bool { return !placed[at][key] })
		}
		merged := sequence{
			base: m.base.lists[at], ours: here(m.ours.lists[at]), theirs: here(m.theirs.lists[at]),
			join: func(base, mine, others []string) []string { return m.join(at, base, mine, others) }, decide: m.moved,
		}.merge()
		merged = append(merged, m.stranded(placed[at], merged)...)
		m.lists[at] = m.apart(at, merged)
	}
}

// stranded returns the blocks that the result has in this list, although neither side has them in this list. The list
// that contained these blocks was deleted.
func (m *merger) stranded(placed map[string]bool, merged []string) []string {
	if len(placed) == len(merged) {
		return nil
	}
	there := positions(merged)
	return slices.DeleteFunc(slices.Sorted(maps.Keys(placed)), func(key string) bool { return has(there, key) || m.dead[key] })
}

// each visits every block in the order of the document.
func (s *side) each(visit func(key string)) {
	var deep func(key string)
	deep = func(key string) {
		visit(key)
		s.below(key, deep)
	}
	for _, key := range s.lists[spot{}] {
		deep(key)
	}
}

// spotOf returns the list of the result that contains a block.
func (m *merger) spotOf(key string) spot {
	was, mine, other := m.base.blocks[key], m.ours.blocks[key], m.theirs.blocks[key]
	var list []spot // by preference: the first list that exists is taken
	switch {
	case other == nil:
		list = []spot{mine.place}
	case mine == nil:
		list = []spot{other.place}
	case mine.place == other.place, was == nil, other.place == was.place:
		list = []spot{mine.place, other.place}
	case mine.place == was.place:
		list = []spot{other.place, mine.place}
	default:
		list = []spot{mine.place, other.place}
		if m.moved(key) {
			list = []spot{other.place, mine.place}
		}
	}
	if was != nil {
		list = append(list, was.place)
	}
	for _, at := range list {
		if at.parent == "" || !m.dead[at.parent] && len(m.replaced[at.parent]) == 0 {
			return at
		}
	}
	return spot{}
}

// Spot is the place of a block in a conflict. It has the parent block, the name of the fragment if the block is in a
// fragment, and the previous block in the list.
type Spot struct {
	Parent   string `json:"parent,omitempty"`
	Fragment string `json:"fragment,omitempty"`
	After    string `json:"after,omitempty"`
}

func (s *side) spot(key string) any {
	b := s.blocks[key]
	if b == nil {
		return nil
	}
	list := s.lists[b.place]
	fragment, _, _ := strings.Cut(b.place.slot, "/")
	shown := Spot{Parent: strings.TrimLeft(b.place.parent, foreign), Fragment: fragment}
	if b.at > 0 {
		shown.After = strings.TrimLeft(list[b.at-1], foreign)
	}
	return shown
}

// moved adds the conflict of a block that the sides put at different places. It returns true if the choice takes
// `theirs`.
func (m *merger) moved(key string) bool {
	block, path := blockOf(key, "")
	take, _ := m.conflicts.decide(Conflict{
		Kind: KindPlace, Block: block, Path: path, Base: m.base.spot(key), Ours: m.ours.spot(key), Theirs: m.theirs.spot(key),
	})
	return take == TakeTheirs
}
