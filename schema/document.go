package schema

import (
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Document is a rich document: a tree of blocks, inlines and text. The table in document_grammar.go says which nodes
// are allowed in each place. To check the document of a request, decode it, call Normalize, and then call Problems. If
// it has no problems, it satisfies the grammar that documents in responses must satisfy.
type Document struct {
	Object string `json:"object"`
	Data   Data   `json:"data"`
	Nodes  []Node `json:"nodes"`
	Meta   Data   `json:"meta,omitzero"`
}

// Node is any part of a document: a block, an inline, a text or a fragment. Object and Type determine its kind. All
// kinds share one Go type, because a table defines the kinds and their members. If a slice or map is nil, the member is
// absent. If it is empty but not nil, the member is present and empty.
type Node struct {
	Object    string `json:"object"`
	Type      string `json:"type,omitempty"`
	Key       string `json:"key,omitempty"`
	Fragment  string `json:"fragment,omitempty"`
	IsVoid    *bool  `json:"isVoid,omitzero"`
	Data      Data   `json:"data,omitzero"`
	Meta      Data   `json:"meta,omitzero"`
	Nodes     []Node `json:"nodes,omitzero"`
	Leaves    []Leaf `json:"leaves,omitzero"`
	Fragments []Node `json:"fragments,omitzero"`
}

// Leaf is a run of text whose characters have the same marks.
type Leaf struct {
	Object string `json:"object"`
	Text   string `json:"text"`
	Marks  []Mark `json:"marks"`
}

// Mark is a style of a run of text, for example bold, code or a color.
type Mark struct {
	Object string `json:"object"`
	Type   string `json:"type"`
	Data   Data   `json:"data,omitzero"`
}

// Data is a JSON object that may have members unknown to this package. Its numbers are float64, as in JavaScript. Its
// members are written in a fixed order. So equal documents have equal bytes, and are stored only once.
type Data map[string]any

// MarshalJSONTo writes the members in a fixed order. It leaves out links that are not allowed.
func (d Data) MarshalJSONTo(enc *jsontext.Encoder) error {
	return json.MarshalEncode(enc, shownLinks(d), json.Deterministic(true))
}

// These are the classes of nodes. They are the values of `object`.
const (
	ObjectDocument = "document"
	ObjectBlock    = "block"
	ObjectInline   = "inline"
	ObjectText     = "text"
	ObjectFragment = "fragment"
	ObjectLeaf     = "leaf"
	ObjectMark     = "mark"
)

// NewDocument makes a document of blocks, and sets the members that the grammar fixes.
func NewDocument(blocks ...Node) Document {
	d := Document{Object: ObjectDocument, Data: Data{"schemaVersion": 1.0}, Nodes: blocks}
	d.Normalize()
	return d
}

// Block makes a block with children. NewDocument or Normalize sets the other members.
func Block(kind string, children ...Node) Node {
	return Node{Type: kind, Nodes: children}
}

// Text makes a text node with one leaf.
func Text(text string, marks ...string) Node {
	leaf := Leaf{Text: text}
	for _, kind := range marks {
		leaf.Marks = append(leaf.Marks, Mark{Type: kind})
	}
	return Node{Object: ObjectText, Leaves: []Leaf{leaf}}
}

// Normalize sets the members that the grammar fixes, so that clients may omit them: `object`, `isVoid`, empty `nodes`,
// `data` and `marks`, and the names of fragments. It also removes parts without meaning that a strict client would
// refuse. Such parts are optional members that are null, unknown members of closed objects, and empty lists in nodes
// whose kind has no such list. If Normalize is called twice, the second call changes nothing.
func (d *Document) Normalize() {
	if d.Object == "" {
		d.Object = ObjectDocument
	}
	if d.Data == nil {
		d.Data = Data{}
	}
	if d.Nodes == nil {
		d.Nodes = []Node{}
	}
	documentData.normalize(d.Data)
	documentMeta.normalize(d.Meta)
	for i := range d.Nodes {
		d.Nodes[i].normalize()
	}
}

// HasKey reports whether a node of the document has this key.
func (d Document) HasKey(key string) bool { return hasKey(d.Nodes, key) }

func hasKey(nodes []Node, key string) bool {
	return slices.ContainsFunc(nodes, func(n Node) bool {
		return n.Key == key || hasKey(n.Nodes, key) || hasKey(n.Fragments, key)
	})
}

func (n *Node) normalize() {
	rule, known := nodeRules[n.Type]
	switch {
	case n.Object == ObjectFragment:
		rule = &fragmentNode
	case n.Object == ObjectText, n.Object == "" && n.Type == "" && n.Leaves != nil:
		n.Object, rule = ObjectText, &textNode
	case !known:
		rule = &unknownNode
	default:
		n.fill(rule)
	}
	n.normalizeText(rule)
	if rule.nodes == nil && len(n.Nodes) == 0 {
		n.Nodes = nil
	} else if n.Nodes == nil {
		n.Nodes = []Node{}
	}
	for i := range n.Nodes {
		n.Nodes[i].normalize()
	}
	for i := range n.Fragments {
		rule.nameFragment(&n.Fragments[i])
		n.Fragments[i].normalize()
	}
}

// fill normalizes a node. The type of the node must be its kind.
func (n *Node) fill(rule *nodeRule) {
	if n.Object == "" {
		n.Object = rule.object
	}
	if n.IsVoid == nil {
		void := rule.void
		n.IsVoid = &void
	}
	if n.Data == nil && rule.dataRequired {
		n.Data = Data{}
	}
	rule.data.normalize(n.Data)
	rule.meta.normalize(n.Meta)
	switch {
	case rule.fragments != nil && n.Fragments == nil:
		n.Fragments = []Node{}
	case rule.fragments == nil && len(n.Fragments) == 0:
		n.Fragments = nil
	}
}

func (n *Node) normalizeText(rule *nodeRule) {
	if rule != &textNode {
		if len(n.Leaves) == 0 {
			n.Leaves = nil
		}
		return
	}
	if n.Leaves == nil {
		n.Leaves = []Leaf{}
	}
	for i := range n.Leaves {
		leaf := &n.Leaves[i]
		if leaf.Object == "" {
			leaf.Object = ObjectLeaf
		}
		if leaf.Marks == nil {
			leaf.Marks = []Mark{}
		}
		for j := range leaf.Marks {
			mark := &leaf.Marks[j]
			if mark.Object == "" {
				mark.Object = ObjectMark
			}
			if data := markRules[mark.Type]; data != nil {
				data.normalize(mark.Data)
			}
		}
	}
}

// nameFragment sets the names of a fragment that the grammar fixes. The fragment belongs to a node of this kind.
func (r *nodeRule) nameFragment(f *Node) {
	if f.Object == "" {
		f.Object = ObjectFragment
	}
	for i := range r.fragments {
		rule := &r.fragments[i]
		if rule.fragment != "" && f.Fragment == "" && (f.Type == rule.kind || rule.kind == "") {
			f.Fragment = rule.fragment
		}
		if rule.kind != "" && f.Type == "" && (f.Fragment == rule.fragment || rule.fragment == "") {
			f.Type = rule.kind
		}
	}
}
