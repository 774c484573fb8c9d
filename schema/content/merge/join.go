package merge

import (
	"slices"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content/diff"
)

// join merges the blocks that both sides put at one place. `base` has the blocks that the base has at this place. Two
// equal added blocks, called twins, become one block. There is a conflict in three cases: for near-equal blocks, for
// blocks that replace a block that both sides deleted, and for lines of code, because their order is unknown. All other
// blocks stay, and the blocks of `ours` come first.
func (m *merger) join(at spot, base, mine, others []string) []string {
	if len(mine) == 0 || len(others) == 0 {
		return append(mine, others...)
	}
	gone := slices.DeleteFunc(slices.Clone(base), func(key string) bool {
		return m.ours.blocks[key] != nil || m.theirs.blocks[key] != nil
	})
	var joined []string
	i, next := 0, 0
	// both joins the blocks between two twins.
	both := func(mine, others []string) {
		if len(gone) > 0 || m.isCode(at) {
			m.contest(at, gone, m.added(m.ours, mine), m.added(m.theirs, others))
			joined = append(append(joined, mine...), others...)
			return
		}
		joined = append(joined, m.near(at, mine, others)...)
	}
	others = uncrossed(mine, others)
	for i2, j := range diff.Match(mine, others) {
		if j == diff.None {
			continue
		}
		both(mine[i:i2], others[next:j])
		joined = append(joined, mine[i2])
		i, next = i2+1, j+1
	}
	both(mine[i:], others[next:])
	return slices.DeleteFunc(joined, func(key string) bool { return m.dead[key] })
}

// uncrossed returns the second list without some of the twins: the twins whose order differs between the two lists.
func uncrossed(mine, others []string) []string {
	matched, all := map[string]bool{}, positions(mine)
	for i, j := range diff.Match(mine, others) {
		if j != diff.None {
			matched[mine[i]] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(others), func(key string) bool { return has(all, key) && !matched[key] })
}

// maxNear bounds the number of pairs of blocks whose words are compared.
const maxNear = 1 << 16

// near joins added blocks in order. A pair of near-equal blocks is a conflict.
func (m *merger) near(at spot, mine, others []string) []string {
	joined := make([]string, 0, len(mine)+len(others))
	next := 0
	if len(mine) > 0 && len(others) > 0 && len(mine)*len(others) <= maxNear {
		a, b := m.sayings(m.ours, mine), m.sayings(m.theirs, others)
		pairs := diff.Align(len(a), len(b), func(i, j int) float64 { return a[i].nearHere(b[j]) })
		for i, j := range pairs {
			if j != diff.None {
				m.contest(at, nil, mine[i:i+1], others[j:j+1])
				joined, next = append(joined, others[next:j+1]...), j+1
			}
			joined = append(joined, mine[i])
		}
		return append(joined, others[next:]...)
	}
	return append(append(joined, mine...), others...)
}

// apart looks for near-equal blocks that the two sides added at different places of a list. It makes a conflict of each
// such pair. It returns all other blocks. In code, it makes no conflicts, because similar lines of code are often meant
// to be different.
func (m *merger) apart(at spot, list []string) []string {
	mine, others := m.added(m.ours, list), m.added(m.theirs, list)
	if m.isCode(at) || len(mine) == 0 || len(others) == 0 || len(mine)*len(others) > maxNear {
		return list
	}
	a, b := m.sayings(m.ours, mine), m.sayings(m.theirs, others)
	for j := range b {
		nearest, best := diff.None, 0.0
		for i := range a {
			if near := a[i].nearElsewhere(b[j]); near > best && !m.dead[mine[i]] && !a[i].short() && !b[j].short() {
				nearest, best = i, near
			}
		}
		if nearest != diff.None {
			m.contest(at, nil, mine[nearest:nearest+1], others[j:j+1])
		}
	}
	return slices.DeleteFunc(list, func(key string) bool { return m.dead[key] })
}

// contest adds the conflict of different blocks that both sides put at one place. It removes the blocks of the side
// that the decision does not take.
func (m *merger) contest(at spot, base, mine, others []string) {
	if len(mine) == 0 || len(others) == 0 {
		return
	}
	take, value := m.decide(at, base, mine, others)
	if take != TakeOurs {
		m.drop(m.ours, mine)
	}
	if take != TakeTheirs {
		m.drop(m.theirs, others)
	}
	if take == TakeValue {
		m.put(mine[0], at, value)
	}
}

// decide adds a conflict between blocks of one list, and returns its decision.
func (m *merger) decide(at spot, base, mine, others []string) (take string, value any) {
	block, path := blockOf(mine[0], "")
	c := Conflict{Kind: KindEdit, Block: block, Path: path}
	c.value = m.versions(at, base, mine, others, &c)
	return m.conflicts.decide(c)
}

// put replaces a block by the value of a choice. The blocks of the value become part of the result.
func (m *merger) put(key string, at spot, value any) {
	delete(m.dead, key)
	m.replaced[key] = m.blocksOf(at, value)
}

// versions sets the versions of a conflict about blocks of one list. Lines of code, items of a list and records of a
// table are shown in a block of their parent's type. If a version has several other blocks, it is shown as a document.
func (m *merger) versions(at spot, base, mine, others []string, c *Conflict) valueKind {
	parent, wrapped := m.wrapper(at)
	several := max(len(base), len(mine), len(others)) > 1
	show := func(s *side, list []string) any {
		var nodes []schema.Node
		for _, key := range list {
			nodes = append(nodes, *s.blocks[key].node)
		}
		switch {
		case len(list) == 0:
			return nil
		case wrapped:
			n := *parent
			if own := s.blocks[at.parent]; own != nil && own.node.Type == n.Type {
				n = *own.node
			}
			n.Nodes, n.Fragments = nodes, nil
			return ptr(collapse(n))
		case several:
			return schema.NewDocument(collapseAll(nodes)...)
		}
		return ptr(collapse(nodes[0]))
	}
	c.Base, c.Ours, c.Theirs = show(m.base, base), show(m.ours, mine), show(m.theirs, others)
	switch {
	case wrapped && parent.Type == typeTable:
		return noValue // a choice cannot give a record, because a record is not a block
	case several && !wrapped:
		return documentValue
	}
	return blockValue
}

// parts has the types of blocks whose children a conflict shows within a block of the same type.
var parts = map[string]bool{
	typeTable: true, "code": true, "list-ordered": true, "list-unordered": true, "list-tasks": true,
}

// wrapper returns the block of `ours` that contains a list. The second result is false if a conflict shows the blocks
// of the list without a containing block.
func (m *merger) wrapper(at spot) (*schema.Node, bool) {
	b := m.ours.blocks[at.parent]
	if b == nil || at.slot != "" || !parts[b.node.Type] {
		return nil, false
	}
	return b.node, true
}

func (m *merger) isCode(at spot) bool {
	parent, wrapped := m.wrapper(at)
	return wrapped && parent.Type == "code"
}

// blocksOf returns the blocks of a value that a choice sets.
func (m *merger) blocksOf(at spot, value any) []schema.Node {
	d, several := value.(schema.Document)
	if several {
		return expand(d.Nodes)
	}
	n := value.(schema.Node)
	if parent, wrapped := m.wrapper(at); wrapped && n.Type == parent.Type {
		return n.Nodes
	}
	return expand([]schema.Node{n})
}

// added returns the blocks of a list that only this side has. If the other side or the base has a descendant of a
// block, the block is left out.
func (m *merger) added(s *side, list []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(key string) bool { return !m.onlyOf(s, key) })
}

// onlyOf reports whether only this side has the block and all of its descendants.
func (m *merger) onlyOf(s *side, key string) bool {
	other := m.ours
	if s == m.ours {
		other = m.theirs
	}
	if m.base.blocks[key] != nil || other.blocks[key] != nil {
		return false
	}
	only := true
	s.below(key, func(child string) { only = only && m.onlyOf(s, child) })
	return only
}

// drop removes blocks of one side, with all blocks below them.
func (m *merger) drop(s *side, list []string) {
	for _, key := range list {
		m.dead[key] = true
		s.below(key, func(child string) { m.drop(s, []string{child}) })
	}
}

// alive returns the number of blocks that are in the result.
func (m *merger) alive() (n int) {
	for key := range m.ours.blocks {
		if !m.dead[key] {
			n++
		}
	}
	for key := range m.theirs.blocks {
		if m.ours.blocks[key] == nil && !m.dead[key] {
			n++
		}
	}
	return n
}
