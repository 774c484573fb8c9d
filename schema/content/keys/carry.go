package keys

import (
	"hash/maphash"
	"slices"
	"strings"
	"unicode"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content/diff"
)

// maxPairs and maxWords bound the work of pairing edited blocks. The blocks between two unchanged neighbors form a gap.
// If a gap has more than maxPairs possible pairs, its blocks are paired only by type. maxWords is the largest number of
// words of a block that are compared.
const (
	maxPairs = 1 << 12
	maxWords = 128
)

// A new block is treated as an edited old block if their similarity is at least similarType and both blocks have the
// same type. The similarity must be at least similarFamily if the types differ but belong to the same family. If a gap
// has only one old block and one new block of a family, the new block is always treated as the edited old block.
const (
	similarType   = 0.3
	similarFamily = 0.5
)

// carrier copies keys from the blocks of the previous document to the blocks of the new document.
type carrier struct {
	*assignment
	// byKey has the blocks of the previous document, by their keys.
	byKey map[string]*schema.Node
	// `taken` has the blocks of the previous document that already have a partner. `done` has the blocks of the new
	// document that already have a partner.
	taken, done map[*schema.Node]bool
	hashes      map[*schema.Node]Hash
	words       map[*schema.Node][]uint64
}

func carry(a *assignment, before, after []schema.Node) {
	c := carrier{
		assignment: a, byKey: map[string]*schema.Node{}, taken: map[*schema.Node]bool{}, done: map[*schema.Node]bool{},
		hashes: map[*schema.Node]Hash{}, words: map[*schema.Node][]uint64{},
	}
	walk(before, func(n *schema.Node) {
		if n.Key != "" {
			c.byKey[n.Key] = n
		}
	})
	var named [][2]*schema.Node
	walk(after, func(n *schema.Node) {
		if was := c.byKey[n.Key]; was != nil {
			named = append(named, [2]*schema.Node{was, n})
			c.taken[was], c.done[n] = true, true
		}
	})
	for _, pair := range named {
		c.below(pair[0], pair[1])
	}
	c.list(before, after)
	c.moved(before, after)
}

// list pairs the children of an old node and a new node. The two nodes themselves are already paired.
func (c *carrier) list(before, after []schema.Node) {
	a, b := c.free(before, c.taken), c.free(after, c.done)
	pairs := diff.Match(c.hashList(a), c.hashList(b))
	i0, j0 := 0, 0
	for i, j := range pairs {
		if j == diff.None {
			continue
		}
		c.gap(a[i0:i], b[j0:j])
		c.adopt(a[i], b[j])
		i0, j0 = i+1, j+1
	}
	c.gap(a[i0:], b[j0:])
}

func (c *carrier) free(nodes []schema.Node, not map[*schema.Node]bool) []*schema.Node {
	var list []*schema.Node
	for i := range nodes {
		if !not[&nodes[i]] {
			list = append(list, &nodes[i])
		}
	}
	return list
}

func (c *carrier) hashList(nodes []*schema.Node) []Hash {
	list := make([]Hash, len(nodes))
	for i, n := range nodes {
		list[i] = c.hash(n)
	}
	return list
}

func (c *carrier) hash(n *schema.Node) Hash {
	hash, ok := c.hashes[n]
	if !ok {
		hash = HashOf(n)
		c.hashes[n] = hash
	}
	return hash
}

// adopt replaces a new node by the equal node of the previous document. A new node that already has a key keeps this
// key.
func (c *carrier) adopt(was, is *schema.Node) {
	own := false
	all := []schema.Node{*is}
	walk(all, func(n *schema.Node) { own = own || n.Key != "" })
	old := []schema.Node{*was}
	walk(old, func(n *schema.Node) { own = own || c.settled[n.Key] })
	if own {
		c.pair(was, is)
		return
	}
	*is = Clone(old)[0]
	c.taken[was], c.done[is] = true, true
	walk(old, func(n *schema.Node) { c.settle(n.Key) })
	below := func(n *schema.Node) { c.taken[n] = true }
	walk(was.Nodes, below)
	walk(was.Fragments, below)
}

// pair gives the new block the key and the anchor of its old block, and then pairs the children of the two blocks.
func (c *carrier) pair(was, is *schema.Node) {
	c.taken[was], c.done[is] = true, true
	if is.Object == schema.ObjectBlock && is.Key == "" && !c.settled[was.Key] {
		is.Key = was.Key
		c.settle(was.Key)
		if is.Type == typeTable && was.Type == typeTable {
			c.table(was, is)
			return
		}
	}
	if anchor := anchorOf(was); anchor != "" && schema.Anchored(is.Type) && anchorOf(is) == "" && chosenAnchor(is) == chosenAnchor(was) {
		setAnchor(is, anchor)
	}
	c.below(was, is)
}

func (c *carrier) below(was, is *schema.Node) {
	c.list(was.Nodes, is.Nodes)
	for i := range is.Fragments {
		f := &is.Fragments[i]
		at := slices.IndexFunc(was.Fragments, func(old schema.Node) bool {
			return old.Fragment == f.Fragment && old.Type == f.Type
		})
		if at >= 0 {
			c.list(was.Fragments[at].Nodes, f.Nodes)
		}
	}
}

// gap pairs edited blocks between two unchanged neighbors.
func (c *carrier) gap(a, b []*schema.Node) {
	if len(a) == 0 || len(b) == 0 {
		return
	}
	var pairs []int
	if len(a)*len(b) > maxPairs {
		pairs = diff.Match(types(a), types(b))
	} else {
		pairs = diff.Align(len(a), len(b), func(i, j int) float64 {
			switch common := c.similarity(a[i], b[j]); {
			case a[i].Object != b[j].Object || Family(a[i]) != Family(b[j]):
				return 0
			case alone(a, i) && alone(b, j), a[i].Type == b[j].Type && common >= similarType, common >= similarFamily:
				return 0.1 + common
			}
			return 0
		})
	}
	for i, j := range pairs {
		if j != diff.None {
			c.pair(a[i], b[j])
		}
	}
}

func types(nodes []*schema.Node) []string {
	list := make([]string, len(nodes))
	for i, n := range nodes {
		list[i] = n.Object + " " + n.Type
	}
	return list
}

// alone reports whether no other node of the list has the same family of types as the node at an index.
func alone(list []*schema.Node, at int) bool {
	return !slices.ContainsFunc(list, func(n *schema.Node) bool {
		return n != list[at] && n.Object == list[at].Object && Family(n) == Family(list[at])
	})
}

// Family returns the type of a block, or a common name for types that are often converted to each other.
func Family(n *schema.Node) string {
	switch {
	case n.Type == "paragraph", strings.HasPrefix(n.Type, "heading-"):
		return "text"
	case strings.HasPrefix(n.Type, "list-") && n.Type != "list-item":
		return "list"
	}
	return n.Type
}

// similarity returns the share of words that two nodes have in common, from 0 to 1.
func (c *carrier) similarity(a, b *schema.Node) float64 {
	x, y := c.wordsOf(a), c.wordsOf(b)
	if len(x)+len(y) == 0 {
		return 1
	}
	common := 0
	for i, j := 0, 0; i < len(x) && j < len(y); {
		switch {
		case x[i] == y[j]:
			common, i, j = common+1, i+1, j+1
		case x[i] < y[j]:
			i++
		default:
			j++
		}
	}
	return 2 * float64(common) / float64(len(x)+len(y))
}

// seed is the seed for hashes of words. The hashes of words are used only within one pairing, so its result does not
// depend on the seed.
var seed = maphash.MakeSeed()

// wordsOf returns the hashes of the first words of a node, sorted.
func (c *carrier) wordsOf(n *schema.Node) []uint64 {
	if words, ok := c.words[n]; ok {
		return words
	}
	var words []uint64
	collectWords(n, &words)
	slices.Sort(words)
	c.words[n] = words
	return words
}

func collectWords(n *schema.Node, words *[]uint64) {
	text := ""
	switch {
	case len(*words) >= maxWords:
		return
	case n.Object == schema.ObjectText:
		for _, leaf := range n.Leaves {
			text += leaf.Text
		}
	case len(n.Nodes) == 0 && len(n.Data) > 0:
		text = string(canonicalJSON(n.Data))
	}
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if len(*words) >= maxWords {
			return
		}
		*words = append(*words, maphash.String(seed, word))
	}
	for i := range n.Nodes {
		collectWords(&n.Nodes[i], words)
	}
	for i := range n.Fragments {
		collectWords(&n.Fragments[i], words)
	}
}

// moved pairs equal blocks that are at different places in the two documents.
func (c *carrier) moved(before, after []schema.Node) {
	left := map[Hash][]*schema.Node{}
	c.unpaired(before, c.taken, func(n *schema.Node) {
		if len(c.wordsOf(n)) > 0 {
			left[c.hash(n)] = append(left[c.hash(n)], n)
		}
	})
	if len(left) == 0 {
		return
	}
	c.unpaired(after, c.done, func(n *schema.Node) {
		if n.Key != "" {
			return
		}
		for found := left[c.hash(n)]; len(found) > 0; found = left[c.hash(n)] {
			left[c.hash(n)] = found[1:]
			if !c.taken[found[0]] {
				c.adopt(found[0], n)
				return
			}
		}
	})
}

// unpaired visits the blocks that have no partner. It does not visit the blocks below a block that gets a partner
// during this visit.
func (c *carrier) unpaired(nodes []schema.Node, paired map[*schema.Node]bool, visit func(n *schema.Node)) {
	for i := range nodes {
		n := &nodes[i]
		if n.Object == schema.ObjectBlock && !paired[n] {
			if visit(n); paired[n] {
				continue
			}
		}
		c.unpaired(n.Nodes, paired, visit)
		c.unpaired(n.Fragments, paired, visit)
	}
}
