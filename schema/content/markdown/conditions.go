package markdown

import "github.com/octavo-docs/octavo/schema"

// ForVisitor returns the blocks that a visitor sees. A visitor sees a conditional block if its expression allows the
// visitor. Usually a conditional block is a node. At a place where the grammar does not allow this node, two paragraphs
// store the tag and the end tag of the block. The content of the block is then the siblings between these two
// paragraphs. If the end tag is missing, the block extends to the last sibling. ForVisitor does not change nodes.
func ForVisitor(nodes []schema.Node, allows func(expression string) bool) []schema.Node {
	seen := make([]schema.Node, 0, len(nodes))
	var open []bool // for each open block, whether the visitor sees its content
	hidden := 0
	for _, n := range nodes {
		expression, begins, ends := conditionTag(&n)
		if begins {
			sees := allows(expression)
			if open = append(open, sees); !sees {
				hidden++
			}
			continue
		} else if ends && len(open) > 0 {
			if !open[len(open)-1] {
				hidden--
			}
			open = open[:len(open)-1]
			continue
		}
		switch expression, _ := n.Data["expression"].(string); {
		case hidden > 0:
		case n.Type != "if":
			seen = append(seen, insideForVisitor(n, allows))
		case allows(expression):
			seen = append(seen, ForVisitor(n.Nodes, allows)...)
		}
	}
	return seen
}

// conditionTag reads the tag or the end tag of a conditional block from a paragraph that stores the tag.
func conditionTag(n *schema.Node) (expression string, begins, ends bool) {
	t, ok := readTagLine([]byte(keptSource(n)))
	if !ok || t.name != "if" {
		return "", false, ok && t.name == "endif"
	}
	value, _ := tagNamed("if").readPosition(t)
	expression, _ = value.(string)
	return expression, true, false
}

// Branch is a conditional block. A visitor sees its content if its expression allows the visitor, and if the visitor
// sees the enclosing branch. A nil Branch is the document.
type Branch struct {
	In         *Branch
	Expression string
}

// EachNode visits all nodes of a document except conditional blocks. `visit` gets the references of the node itself,
// without the references of its children, and the enclosing conditional block. A visitor sees the node if [ForVisitor]
// shows the content of the enclosing block.
func EachNode(d schema.Document, visit func(n *schema.Node, refs []map[string]any, in *Branch)) {
	branches{visit}.blocks(d.Nodes, "", nil)
}

type branches struct {
	visit func(n *schema.Node, refs []map[string]any, in *Branch)
}

// blocks visits siblings, some of which may be conditional.
func (b branches) blocks(nodes []schema.Node, parent string, in *Branch) {
	outside := in
	for i := range nodes {
		n := &nodes[i]
		expression, begins, ends := conditionTag(n)
		switch {
		case begins:
			in = &Branch{In: in, Expression: expression}
		case ends && in != outside:
			in = in.In
		case n.Type == "if":
			expression, _ := n.Data["expression"].(string)
			b.blocks(n.Nodes, n.Type, &Branch{In: in, Expression: expression})
		default:
			b.node(n, parent, in)
		}
	}
}

func (b branches) node(n *schema.Node, parent string, in *Branch) {
	var refs []map[string]any
	collect := func(ref map[string]any) map[string]any {
		refs = append(refs, ref)
		return nil
	}
	if _, kept := keptMarkdown(n, parent); kept {
		mapNode(*n, parent, refChange{to: collect})
		b.visit(n, refs, in)
		return
	}
	mapOwn(*n, refChange{to: collect})
	b.visit(n, refs, in)
	if schema.HoldsBlocks(n.Type) {
		b.blocks(n.Nodes, parentName(n), in)
	} else {
		for i := range n.Nodes {
			b.node(&n.Nodes[i], parentName(n), in)
		}
	}
	for i := range n.Fragments {
		b.blocks(n.Fragments[i].Nodes, parentName(&n.Fragments[i]), in)
	}
}

func insideForVisitor(n schema.Node, allows func(expression string) bool) schema.Node {
	if schema.HoldsBlocks(n.Type) {
		n.Nodes = ForVisitor(n.Nodes, allows)
	}
	// An annotation is an inline node whose fragments have blocks.
	for i := range n.Nodes {
		if len(n.Nodes[i].Fragments) > 0 {
			inlines := make([]schema.Node, len(n.Nodes))
			for j, inline := range n.Nodes {
				inlines[j] = insideForVisitor(inline, allows)
			}
			n.Nodes = inlines
			break
		}
	}
	if len(n.Fragments) > 0 {
		fragments := make([]schema.Node, len(n.Fragments))
		for i, f := range n.Fragments {
			f.Nodes = ForVisitor(f.Nodes, allows)
			fragments[i] = f
		}
		n.Fragments = fragments
	}
	return n
}
