package markdown

import "github.com/octavo-docs/octavo/schema"

// ForVisitor returns the blocks that a visitor sees: of conditional blocks, the contents of those whose expression allows it.
// Conditional blocks stand as nodes, or, where the grammar has no place for them, between two paragraphs that are kept as their tag
// and its end; without its end, one reaches to the last of its siblings. nodes stay as they are.
func ForVisitor(nodes []schema.Node, allows func(expression string) bool) []schema.Node {
	seen := make([]schema.Node, 0, len(nodes))
	var open []bool // whether the visitor sees what is in each of the blocks that have begun
	hidden := 0
	for _, n := range nodes {
		if t, ok := readTagLine([]byte(keptSource(&n))); ok && t.name == "if" {
			value, _ := tagNamed("if").readPosition(t)
			expression, _ := value.(string)
			sees := allows(expression)
			if open = append(open, sees); !sees {
				hidden++
			}
			continue
		} else if ok && t.name == "endif" && len(open) > 0 {
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

func insideForVisitor(n schema.Node, allows func(expression string) bool) schema.Node {
	if schema.HoldsBlocks(n.Type) {
		n.Nodes = ForVisitor(n.Nodes, allows)
	}
	// Annotations are inlines with blocks.
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
