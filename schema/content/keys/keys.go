package keys

import (
	"crypto/sha256"
	"slices"
	"strconv"

	"github.com/octavo-docs/octavo/schema"
)

// keyLength is the length of the keys that this package makes. A key has 50 bits, so the keys of
// schema.MaxDocumentNodes blocks rarely collide.
const keyLength = 10

// Assign gives every block of the document a unique key. It also gives a unique anchor to every block of a kind with
// anchors. The keys and anchors in d stay if they are unique and well formed. If `before` is set, it is the replaced
// document, and Assign compares the other blocks with it. Unchanged and edited blocks get the keys and anchors that
// they had in `before`. New blocks get keys derived from their content. So the result depends only on d and `before`.
//
// Assign changes d in place. It changes neither the maps in d nor `before`.
func Assign(d *schema.Document, before *schema.Document) {
	a := assignment{used: map[string]bool{}, settled: map[string]bool{}, count: map[Hash]int{}}
	a.keep(d.Nodes)
	if before != nil {
		old := schema.Document{Nodes: Clone(before.Nodes)}
		Assign(&old, nil)
		a.reserve(old.Nodes)
		carry(&a, old.Nodes, d.Nodes)
	}
	a.derive(d.Nodes)
	assignAnchors(d.Nodes)
}

// Complete reports whether Assign would leave the document unchanged. The result is true if each block has a key, each
// block of a kind with anchors has an anchor, and all keys and anchors are unique.
func Complete(d schema.Document) bool {
	used, anchors := map[string]bool{}, map[string]bool{}
	return complete(d.Nodes, used, anchors)
}

func complete(nodes []schema.Node, used, anchors map[string]bool) bool {
	for i := range nodes {
		n := &nodes[i]
		if n.Object == schema.ObjectBlock && n.Key == "" || n.Key != "" && (used[n.Key] || !schema.ValidID(n.Key)) {
			return false
		}
		if n.Key != "" {
			used[n.Key] = true
		}
		if schema.Anchored(n.Type) {
			anchor := anchorOf(n)
			if anchor == "" || anchors[anchor] {
				return false
			}
			anchors[anchor] = true
		}
		if !complete(n.Nodes, used, anchors) || !complete(n.Fragments, used, anchors) {
			return false
		}
	}
	return true
}

// assignment is the state of one call of Assign.
type assignment struct {
	// `used` has the keys of the document and of the previous document.
	used map[string]bool
	// `settled` has the final keys of the document's nodes: the keys that the document had before the call, and the
	// keys copied from the previous document.
	settled map[string]bool
	// `count` has, for each hash, the number of keys that were derived from it.
	count map[Hash]int
}

// keep keeps the document's own keys if they are well formed and unique, and removes all other keys.
func (a *assignment) keep(nodes []schema.Node) {
	walk(nodes, func(n *schema.Node) {
		if n.Key == "" {
			return
		}
		if !schema.ValidID(n.Key) || a.settled[n.Key] {
			n.Key = ""
			return
		}
		a.settle(n.Key)
	})
}

func (a *assignment) settle(key string) {
	if key != "" {
		a.settled[key], a.used[key] = true, true
	}
}

// reserve prevents keys of the previous document from being given to other blocks.
func (a *assignment) reserve(nodes []schema.Node) {
	walk(nodes, func(n *schema.Node) {
		if n.Key != "" {
			a.used[n.Key] = true
		}
	})
}

func (a *assignment) derive(nodes []schema.Node) {
	walk(nodes, func(n *schema.Node) {
		if n.Object == schema.ObjectBlock && n.Key == "" {
			n.Key = a.newKey(HashOf(n))
		}
	})
}

// newKey derives a key from a hash. No node has this key yet.
func (a *assignment) newKey(of Hash) string {
	for {
		seed := of
		if n := a.count[of]; n > 0 {
			seed = sha256.Sum256(strconv.AppendInt(of[:], int64(n), 10))
		}
		a.count[of]++
		if key := shortOf(seed); !a.used[key] {
			a.used[key] = true
			return key
		}
	}
}

func shortOf(hash Hash) string { return encoding.EncodeToString(hash[:])[:keyLength] }

// walk visits every node, parents first.
func walk(nodes []schema.Node, visit func(n *schema.Node)) {
	for i := range nodes {
		visit(&nodes[i])
		walk(nodes[i].Nodes, visit)
		walk(nodes[i].Fragments, visit)
	}
}

// Clone copies nodes so that Assign can change the copies. The copies share the nodes' maps and leaves.
func Clone(nodes []schema.Node) []schema.Node {
	if nodes == nil {
		return nil
	}
	copied := slices.Clone(nodes)
	for i := range copied {
		copied[i].Nodes, copied[i].Fragments = Clone(copied[i].Nodes), Clone(copied[i].Fragments)
	}
	return copied
}
