package schema

import (
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Document is a rich document: a tree of blocks, inlines and text. The table in document_grammar.go says which nodes
// are allowed in each place. For the document of a request, decode it, call Normalize, and then call Problems. A
// document without problems satisfies the grammar that responses must have.
type Document struct {
	Object string `json:"object"`
	Data   Data   `json:"data"`
	Nodes  []Node `json:"nodes"`
	Meta   Data   `json:"meta,omitzero"`
}

// Node is any part of a document: a block, an inline, a text or a fragment. Object and Type determine its kind. All
// kinds share one Go type, because a table defines the kinds and their members. A nil slice or map is an absent member,
// and an empty slice or map is an empty member.
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

// Leaf is a run of text with the same marks.
type Leaf struct {
	Object string `json:"object"`
	Text   string `json:"text"`
	Marks  []Mark `json:"marks"`
}

// Mark is a style of a run of text: bold, code, a color.
type Mark struct {
	Object string `json:"object"`
	Type   string `json:"type"`
	Data   Data   `json:"data,omitzero"`
}

// Data is a JSON object that may have members unknown to this package. Its numbers are float64, as in JavaScript. Its
// members are written in a fixed order, so that equal documents have equal bytes. Content-addressed storage relies on
// this.
type Data map[string]any

// MarshalJSONTo writes the members in order and leaves out links that are not allowed.
func (d Data) MarshalJSONTo(enc *jsontext.Encoder) error {
	return json.MarshalEncode(enc, shownLinks(d), json.Deterministic(true))
}

// These are the classes of nodes, which are the values of `object`.
const (
	ObjectDocument = "document"
	ObjectBlock    = "block"
	ObjectInline   = "inline"
	ObjectText     = "text"
	ObjectFragment = "fragment"
	ObjectLeaf     = "leaf"
	ObjectMark     = "mark"
)

// NewDocument makes a document of the given blocks and fills in the constants of the grammar.
func NewDocument(blocks ...Node) Document {
	d := Document{Object: ObjectDocument, Data: Data{"schemaVersion": 1.0}, Nodes: blocks}
	d.Normalize()
	return d
}

// Block makes a block with children. NewDocument or Normalize fills in the rest.
func Block(kind string, children ...Node) Node {
	return Node{Type: kind, Nodes: children}
}

// Text makes a text node of one leaf.
func Text(text string, marks ...string) Node {
	leaf := Leaf{Text: text}
	for _, kind := range marks {
		leaf.Marks = append(leaf.Marks, Mark{Type: kind})
	}
	return Node{Object: ObjectText, Leaves: []Leaf{leaf}}
}

// Normalize sets the members that the grammar fixes, so that clients may omit them: `object`, `isVoid`, empty `nodes`,
// `data` and `marks`, and the names of fragments. It removes meaningless parts that a strict reader would refuse. Such
// parts are null in optional members, unknown members of objects whose members the grammar lists completely, and empty
// lists in kinds of nodes that have no such list. A second call changes nothing.
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

// HasKey reports whether a node of the document has the key.
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

// fill normalizes a node whose type is its kind.
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

// nameFragment sets the fixed names of a fragment below a node of this kind.
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
