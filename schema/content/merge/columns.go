package merge

import (
	"maps"
	"slices"

	"github.com/octavo-docs/octavo/schema"
)

// restoreColumns handles each column that one side deleted although the result still has cells in it. These cells are
// in records that the other side added, or in records that stay. The column is in conflict. The choice either deletes
// these cells or restores the column.
func (m *merger) restoreColumns(key string, n *schema.Node) {
	m.restoreCells(key, n)
	definition, _ := n.Data["definition"].(map[string]any)
	for _, column := range missingColumns(n.Nodes, definition) {
		block, path := blockOf(key, "definition."+column)
		mine, other := m.ours.column(key, column), m.theirs.column(key, column)
		if m.stray(m.ours, key, column) || m.stray(m.theirs, key, column) {
			// A side already had cells in this column without a definition. So these cells do not show that a side
			// deleted the column.
			continue
		}
		take, _ := m.conflicts.decide(Conflict{
			Kind: KindDelete, Block: block, Path: path, Base: m.base.column(key, column), Ours: mine, Theirs: other,
		})
		from := m.ours
		if take == TakeTheirs {
			from = m.theirs
		}
		if from.column(key, column) == nil {
			dropCells(n, column)
			continue
		}
		m.restoreColumn(n, from.blocks[key].node, column)
	}
}

// stray reports whether a side has cells in a column that this side does not define.
func (m *merger) stray(s *side, key, column string) bool {
	b := s.blocks[key]
	if b == nil || s.column(key, column) != nil {
		return false
	}
	return slices.ContainsFunc(b.node.Nodes, func(row schema.Node) bool {
		_, ok := valuesOf(&row)[column]
		return ok
	})
}

// missingColumns lists the columns that have cells but no definition.
func missingColumns(rows []schema.Node, definition map[string]any) []string {
	missing := map[string]bool{}
	for i := range rows {
		for column := range valuesOf(&rows[i]) {
			if definition[column] == nil {
				missing[column] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(missing))
}

func valuesOf(row *schema.Node) map[string]any {
	values, _ := row.Data["values"].(map[string]any)
	return values
}

// column returns a column of a side as a table that has only this column. It returns nil if the side does not define
// the column.
func (s *side) column(key, column string) any {
	b := s.blocks[key]
	if b == nil {
		return nil
	}
	definition, _ := b.node.Data["definition"].(map[string]any)
	if definition[column] == nil {
		return nil
	}
	n := *b.node
	n.Nodes = slices.Clone(n.Nodes)
	for i := range n.Nodes {
		row := &n.Nodes[i]
		name, _ := valuesOf(row)[column].(string)
		row.Data = maps.Clone(row.Data)
		row.Data["values"] = map[string]any{}
		if value, ok := valuesOf(&b.node.Nodes[i])[column]; ok {
			row.Data["values"] = map[string]any{column: value}
		}
		row.Fragments = slices.DeleteFunc(slices.Clone(row.Fragments), func(f schema.Node) bool { return f.Fragment != name })
	}
	n = collapse(n)
	return &n
}

func (m *merger) restoreColumn(n, from *schema.Node, column string) {
	theirs, _ := from.Data["definition"].(map[string]any)
	definition, _ := n.Data["definition"].(map[string]any)
	definition = maps.Clone(definition)
	if definition == nil {
		definition = map[string]any{}
	}
	definition[column] = theirs[column]
	n.Data = maps.Clone(n.Data)
	n.Data["definition"] = definition
	if view, ok := n.Data["view"].(map[string]any); ok {
		columns, _ := view["columns"].([]any)
		if !slices.Contains(columns, any(column)) {
			view = maps.Clone(view)
			view["columns"] = append(slices.Clone(columns), column)
			n.Data["view"] = view
		}
	}
}

func dropCells(n *schema.Node, column string) {
	for i := range n.Nodes {
		row := &n.Nodes[i]
		values := valuesOf(row)
		value, ok := values[column]
		if !ok {
			continue
		}
		values = maps.Clone(values)
		delete(values, column)
		row.Data = maps.Clone(row.Data)
		row.Data["values"] = values
		row.Fragments = slices.DeleteFunc(row.Fragments, func(f schema.Node) bool { return f.Fragment == value })
	}
}

// restoreCells restores the names of fragments in cells. It restores the name in each cell that showed the fragment
// before, if the result still has the fragment.
func (m *merger) restoreCells(key string, n *schema.Node) {
	for i := range n.Nodes {
		row := &n.Nodes[i]
		shown := map[any]bool{}
		for _, value := range valuesOf(row) {
			if name, ok := value.(string); ok {
				shown[name] = true
			}
		}
		missing := map[string]bool{}
		for _, f := range row.Fragments {
			missing[f.Fragment] = !shown[f.Fragment]
		}
		restored := map[string]any{}
		for _, s := range []*side{m.ours, m.theirs} {
			b := s.blocks[row.Key]
			if b == nil {
				continue
			}
			for column, value := range valuesOf(b.node) {
				if name, ok := value.(string); ok && missing[name] {
					restored[column] = name
				}
			}
		}
		if len(restored) == 0 {
			continue
		}
		values := maps.Clone(valuesOf(row))
		if values == nil {
			values = map[string]any{}
		}
		maps.Copy(values, restored)
		row.Data = maps.Clone(row.Data)
		if row.Data == nil {
			row.Data = schema.Data{}
		}
		row.Data["values"] = values
	}
}
