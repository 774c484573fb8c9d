package merge

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/octavo-docs/octavo/schema"
)

// spot identifies a list of blocks: the children of a block, or the blocks in one of its fragments. The zero spot
// identifies the top-level list of the document.
type spot struct {
	parent string // key of the block
	slot   string // name of the fragment, or "" for the children
}

func (at spot) compare(other spot) int {
	return cmp.Or(cmp.Compare(at.parent, other.parent), cmp.Compare(at.slot, other.slot))
}

// block is a block of one side.
type block struct {
	node  *schema.Node
	place spot
	// at is the index of the block in the list that contains it.
	at int
	// own is the encoded data of the block itself, without its child blocks and its key.
	own   string
	slots []string
	// shells has the block's fragments by their slots. The fragments are without their blocks.
	shells map[string]schema.Node
}

// side is the document of one side, as a table of its blocks.
type side struct {
	blocks map[string]*block
	lists  map[spot][]string
	// broken is true if the key of a block is missing or not unique. Documents that were checked have no such block.
	broken bool
}

func newSide(nodes []schema.Node) *side {
	s := &side{blocks: map[string]*block{}, lists: map[spot][]string{}}
	s.add(spot{}, nodes)
	return s
}

func (s *side) add(at spot, nodes []schema.Node) {
	for i := range nodes {
		n := &nodes[i]
		if n.Key == "" || s.blocks[n.Key] != nil {
			s.broken = true
			continue
		}
		b := &block{
			node: n, place: at, at: len(s.lists[at]),
			own: string(canonicalJSON(ownOf(n))), shells: map[string]schema.Node{},
		}
		s.blocks[n.Key] = b
		s.lists[at] = append(s.lists[at], n.Key)
		if !holdsText(n) {
			b.slots = append(b.slots, "")
			s.add(spot{n.Key, ""}, n.Nodes)
		}
		for j := range n.Fragments {
			f := n.Fragments[j]
			slot := slotOf(&f)
			for twin := 2; b.shells[slot].Object != ""; twin++ {
				slot = slotOf(&f) + "#" + strconv.Itoa(twin)
			}
			s.add(spot{n.Key, slot}, f.Nodes)
			f.Nodes = nil
			b.slots, b.shells[slot] = append(b.slots, slot), f
		}
	}
}

// slotOf returns the name of a fragment among the fragments of its block.
func slotOf(f *schema.Node) string { return f.Fragment + "/" + f.Type }

// holdsText reports whether the children of a block are inlines. Inlines are merged word by word.
func holdsText(n *schema.Node) bool {
	return len(n.Nodes) > 0 && n.Nodes[0].Object != schema.ObjectBlock
}

// ownOf returns the block without its key and the blocks below it.
func ownOf(n *schema.Node) schema.Node {
	own := *n
	own.Key, own.Fragments = "", nil
	if n.Type == typeRow {
		own.Meta = nil
	}
	if !holdsText(n) {
		own.Nodes = nil
	}
	return own
}

// below calls `visit` with the key of each child of a block, and of each block in its fragments.
func (s *side) below(key string, visit func(key string)) {
	for _, slot := range s.blocks[key].slots {
		for _, child := range s.lists[spot{key, slot}] {
			visit(child)
		}
	}
}

// version returns a block of this side in the form that a conflict shows. It returns nil if this side does not have the
// block.
func (s *side) version(key string) any {
	b := s.blocks[key]
	if b == nil {
		return nil
	}
	if b.node.Type == typeRow {
		return s.rowVersion(b)
	}
	n := collapse(*b.node)
	return &n
}

// textVersion does the same as version, but leaves out the blocks below the block.
func (s *side) textVersion(key string) any {
	b := s.blocks[key]
	if b == nil {
		return nil
	}
	n := ownOf(b.node)
	n.Key = strings.TrimLeft(key, foreign)
	if n.Nodes == nil {
		n.Nodes = []schema.Node{}
	}
	return &n
}
