package merge

import (
	"maps"
	"slices"
	"strings"

	"github.com/octavo-docs/octavo/schema"
)

// build returns the merged blocks of a list of siblings.
func (m *merger) build(at spot) []schema.Node {
	nodes := []schema.Node{}
	for _, key := range m.lists[at] {
		m.emitted++
		if chosen, ok := m.replaced[key]; ok {
			nodes = append(nodes, chosen...)
			continue
		}
		nodes = append(nodes, m.block(key))
	}
	return nodes
}

// block makes a block of the result, with all of its descendants.
func (m *merger) block(key string) schema.Node {
	mine, other := m.ours.blocks[key], m.theirs.blocks[key]
	var n schema.Node
	switch {
	case other == nil:
		n = *mine.node
	case mine == nil:
		n = m.unanchored(key, *other.node)
	default:
		n = m.own(key)
	}
	n.Key = key
	if strings.HasPrefix(key, foreign) && n.Type != typeTable && n.Type != typeRow {
		n.Key = "" // ours already has a block with this key, so the other block gets a new key
	}
	if !holdsText(&n) {
		n.Nodes = m.build(spot{key, ""})
	}
	n.Fragments = nil
	for _, slot := range m.slots(key) {
		f := m.shell(key, slot)
		f.Nodes = m.build(spot{key, slot})
		n.Fragments = append(n.Fragments, f)
	}
	if n.Type == typeTable {
		m.restoreColumns(key, &n)
	}
	return n
}

// unanchored removes the anchor of a block that `theirs` added, if a block of `ours` already has this anchor. The block
// gets a new anchor later.
func (m *merger) unanchored(key string, n schema.Node) schema.Node {
	anchor, ok := n.Meta["id"].(string)
	if of, taken := m.anchors[anchor]; ok && taken && of != key && n.Type != typeRow {
		n.Meta = maps.Clone(n.Meta)
		delete(n.Meta, "id")
		if len(n.Meta) == 0 {
			n.Meta = nil
		}
	}
	return n
}

// slots lists the names of the fragments that a block of the result has.
func (m *merger) slots(key string) []string {
	of := func(s *side) []string {
		if s.blocks[key] == nil {
			return nil
		}
		return slices.DeleteFunc(slices.Clone(s.blocks[key].slots), func(slot string) bool { return slot == "" })
	}
	was, mine, other := of(m.base), of(m.ours), of(m.theirs)
	if m.ours.blocks[key] == nil {
		return other
	}
	if m.theirs.blocks[key] == nil {
		return mine
	}
	inBase, inOurs, inTheirs := positions(was), positions(mine), positions(other)
	gone := func(slot string) bool {
		deleted := has(inBase, slot) && !(has(inOurs, slot) && has(inTheirs, slot))
		return deleted && len(m.lists[spot{key, slot}]) == 0
	}
	return sequence{base: was, ours: slices.DeleteFunc(mine, gone), theirs: slices.DeleteFunc(other, gone)}.merge()
}

// shell merges the members of a fragment, without its blocks.
func (m *merger) shell(key, slot string) schema.Node {
	of := func(s *side) (schema.Node, bool) {
		if s.blocks[key] == nil {
			return schema.Node{}, false
		}
		f, ok := s.blocks[key].shells[slot]
		return f, ok
	}
	was, _ := of(m.base)
	mine, inOurs := of(m.ours)
	other, inTheirs := of(m.theirs)
	switch {
	case !inOurs:
		return other
	case inTheirs:
		mine.Data = m.members(key, "fragments."+slot+".data", was.Data, mine.Data, other.Data)
		mine.Meta = m.members(key, "fragments."+slot+".meta", was.Meta, mine.Meta, other.Meta)
	}
	return mine
}

// own merges the data of a block that both sides have. It does not merge the blocks below the block.
func (m *merger) own(key string) schema.Node {
	was, mine, other := m.base.blocks[key], m.ours.blocks[key], m.theirs.blocks[key]
	if was == nil {
		return *mine.node // both sides added the block
	}
	b, o, t := ownOf(was.node), ownOf(mine.node), ownOf(other.node)
	if o.Type == typeRow {
		o.Meta, t.Meta = mine.node.Meta, other.node.Meta
		if equal(was.node.Meta, mine.node.Meta) {
			o.Meta = other.node.Meta
		}
	}
	repeated := mine.own != other.own && (m.repeats(m.theirs, m.ours, key) || m.repeats(m.ours, m.theirs, key))
	switch {
	case repeated: // the switch below decides
	case mine.own == other.own, was.own == other.own:
		return o
	case was.own == mine.own:
		t.Meta = pick(o.Type == typeRow, o.Meta, t.Meta)
		return t
	}
	block, path := blockOf(key, "")
	n := o
	switch {
	case repeated, o.Type != t.Type && t.Type != b.Type && o.Type != b.Type:
		take, value := m.conflicts.decide(Conflict{
			Kind: KindEdit, Block: block, Path: path, value: blockValue,
			Base: m.base.textVersion(key), Ours: m.ours.textVersion(key), Theirs: m.theirs.textVersion(key),
		})
		switch take {
		case TakeTheirs:
			return t
		case TakeValue:
			return ownOf(ptr(value.(schema.Node)))
		}
		return o
	case o.Type == b.Type && t.Type != o.Type:
		n.Type, n.Object, n.IsVoid = t.Type, t.Object, t.IsVoid
	}
	n.Data = m.members(key, "data", b.Data, o.Data, t.Data)
	if n.Type != typeRow {
		n.Meta = m.members(key, "meta", b.Meta, o.Meta, t.Meta)
	}
	n.Nodes = m.text(key, b.Nodes, o.Nodes, t.Nodes)
	return n
}

func ptr[T any](value T) *T { return &value }

func pick[T any](first bool, a, b T) T {
	if first {
		return a
	}
	return b
}

// text merges the inlines of a block word by word.
func (m *merger) text(key string, base, ours, theirs []schema.Node) []schema.Node {
	switch {
	case equal(ours, theirs), equal(base, theirs):
		return ours
	case equal(base, ours):
		return theirs
	}
	if merged, ok := mergeWords(base, ours, theirs); ok {
		return merged
	}
	block, path := blockOf(key, "text")
	take, value := m.conflicts.decide(Conflict{
		Kind: KindEdit, Block: block, Path: path, value: blockValue,
		Base: m.base.textVersion(key), Ours: m.ours.textVersion(key), Theirs: m.theirs.textVersion(key),
	})
	switch take {
	case TakeTheirs:
		return theirs
	case TakeValue:
		return value.(schema.Node).Nodes
	}
	return ours
}

// objects has the paths of members whose values are objects with independent members. An object at such a path is
// merged member by member. Any other object is merged as one value: for example, a mix of two references would be a
// reference that neither side wrote. A * in a path matches any name.
var objects = map[string]bool{
	"data.view": true, "data.view.columnWidths": true, "data.definition": true, "data.definition.*": true, "data.values": true,
	"data.props": true,
}

func isObject(path string) bool {
	if parts := strings.Split(path, "."); len(parts) == 3 && parts[1] == "definition" {
		path = "data.definition.*"
	}
	return objects[path]
}

// members merges two objects member by member.
func (m *merger) members(key, path string, base, ours, theirs map[string]any) map[string]any {
	switch {
	case equal(ours, theirs), equal(base, theirs):
		return ours
	case equal(base, ours):
		return theirs
	}
	merged := map[string]any{}
	names := maps.Clone(ours)
	if names == nil {
		names = map[string]any{}
	}
	maps.Copy(names, theirs)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		b, was := base[name]
		o, mine := ours[name]
		t, other := theirs[name]
		if value, ok := m.member(key, path+"."+name, variable{b, was}, variable{o, mine}, variable{t, other}); ok {
			merged[name] = value
		}
	}
	return merged
}

// variable is the value of a member. `is` is false if the member does not exist.
type variable struct {
	value any
	is    bool
}

func (v variable) same(w variable) bool { return v.is == w.is && equal(v.value, w.value) }

func (m *merger) member(key, path string, base, ours, theirs variable) (any, bool) {
	switch {
	case ours.same(theirs), base.same(theirs):
		return ours.value, ours.is
	case base.same(ours):
		return theirs.value, theirs.is
	}
	kind := KindDelete
	if ours.is && theirs.is {
		kind = KindEdit
		b, _ := base.value.(map[string]any)
		o, mine := ours.value.(map[string]any)
		t, other := theirs.value.(map[string]any)
		if mine && other && isObject(path) {
			return m.members(key, path, b, o, t), true
		}
		if merged, ok := mergeLists(base.value, ours.value, theirs.value); ok {
			return merged, true
		}
		if merged, ok := mergeLines(base.value, ours.value, theirs.value); ok {
			return merged, true
		}
	}
	block, path := blockOf(key, path)
	take, value := m.conflicts.decide(Conflict{
		Kind: kind, Block: block, Path: path, Base: base.value, Ours: ours.value, Theirs: theirs.value, value: jsonValue,
	})
	switch take {
	case TakeTheirs:
		return theirs.value, theirs.is
	case TakeValue:
		return value, true
	}
	return ours.value, ours.is
}

// mergeLists merges lists of different texts, such as the columns of a table. `ok` is false if both sides moved the
// same text.
func mergeLists(base, ours, theirs any) (merged []any, ok bool) {
	b, isBase := uniqueTexts(base)
	o, isOurs := uniqueTexts(ours)
	t, isTheirs := uniqueTexts(theirs)
	if !isBase || !isOurs || !isTheirs {
		return nil, false
	}
	inBase, inOurs, inTheirs := positions(b), positions(o), positions(t)
	gone := func(e string) bool { return has(inBase, e) && !(has(inOurs, e) && has(inTheirs, e)) }
	contested := false
	list := sequence{
		base: b, ours: slices.DeleteFunc(o, gone), theirs: slices.DeleteFunc(t, gone),
		decide: func(string) bool { contested = true; return false },
	}.merge()
	merged = []any{}
	for _, e := range list {
		merged = append(merged, e)
	}
	return merged, !contested
}

func uniqueTexts(value any) (list []string, ok bool) {
	values, ok := value.([]any)
	seen := map[string]bool{}
	for _, v := range values {
		text, isText := v.(string)
		if !isText || seen[text] {
			return nil, false
		}
		seen[text], list = true, append(list, text)
	}
	return list, ok
}
