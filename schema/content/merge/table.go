package merge

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content/keys"
)

// While a document is merged, the records of a table are blocks below the table. So a merge inserts, deletes, moves and
// edits records in the same way as blocks. The fragments of a record's cells belong to the record.
const (
	typeTable = "table"
	typeRow   = "table-row"
	// rowSeparator separates the table's key from the record's id. Keys and ids never contain this separator.
	rowSeparator = "/"
	// orderIndex is the member of a record that determines the record's place. While records are blocks, the record's
	// meta contains this member, and the blocks have the order of the records.
	orderIndex = "orderIndex"
	// foreign is the prefix of the key of a block that `theirs` added, if `ours` has another block with the same key.
	foreign = "~"
)

// expand turns the records of tables into blocks. Each block must have a key.
func expand(nodes []schema.Node) []schema.Node {
	for i := range nodes {
		n := &nodes[i]
		n.Nodes, n.Fragments = expand(n.Nodes), expand(n.Fragments)
		if n.Type == typeTable {
			expandTable(n)
		}
	}
	return nodes
}

func expandTable(n *schema.Node) {
	records, ok := n.Data["records"].(map[string]any)
	if !ok {
		return
	}
	fragments := map[string]int{}
	for i := range n.Fragments {
		if _, twin := fragments[n.Fragments[i].Fragment]; !twin {
			fragments[n.Fragments[i].Fragment] = i
		}
	}
	shown := map[int]bool{}
	n.Nodes = []schema.Node{}
	for _, id := range keys.RowOrder(records) {
		row := schema.Node{Object: schema.ObjectBlock, Type: typeRow, Key: n.Key + rowSeparator + id}
		record, _ := records[id].(map[string]any)
		row.Data, row.Meta = maps.Clone(record), schema.Data{orderIndex: keys.OrderIndex(record)}
		delete(row.Data, orderIndex)
		values, _ := record["values"].(map[string]any)
		for _, column := range slices.Sorted(maps.Keys(values)) {
			name, isName := values[column].(string)
			if at, ok := fragments[name]; isName && ok && !shown[at] {
				shown[at] = true
				row.Fragments = append(row.Fragments, n.Fragments[at])
			}
		}
		n.Nodes = append(n.Nodes, row)
	}
	var rest []schema.Node
	for i, f := range n.Fragments {
		if !shown[i] {
			rest = append(rest, f)
		}
	}
	n.Fragments = rest
	n.Data = maps.Clone(n.Data)
	delete(n.Data, "records")
}

// collapse reverses expand for a block and all of its descendants.
func collapse(n schema.Node) schema.Node {
	n.Key = strings.TrimLeft(n.Key, foreign)
	if n.Type == typeTable {
		n = collapseTable(n)
	}
	n.Nodes, n.Fragments = collapseAll(n.Nodes), collapseAll(n.Fragments)
	return n
}

func collapseAll(nodes []schema.Node) []schema.Node {
	list := slices.Clone(nodes)
	for i := range list {
		list[i] = collapse(list[i])
	}
	return list
}

func collapseTable(n schema.Node) schema.Node {
	if _, whole := n.Data["records"]; whole {
		return n
	}
	records := map[string]any{}
	fragments := slices.Clone(n.Fragments)
	names, idNumbers, nameNumbers := map[string]bool{}, map[string]int{}, map[string]int{}
	for _, f := range fragments {
		names[f.Fragment] = true
	}
	var ids []string
	for _, row := range n.Nodes {
		id := unused(
			row.Key[strings.LastIndex(row.Key, rowSeparator)+1:], idNumbers,
			func(id string) bool { return records[id] != nil },
		)
		record := map[string]any(maps.Clone(row.Data))
		if record == nil {
			record = map[string]any{}
		}
		record[orderIndex] = row.Meta[orderIndex]
		if values, ok := record["values"].(map[string]any); ok {
			values = maps.Clone(values)
			record["values"] = values
			for _, f := range row.Fragments {
				name := unused(f.Fragment, nameNumbers, func(name string) bool { return names[name] })
				names[name] = true
				for column, value := range values {
					if value == f.Fragment {
						values[column] = name
					}
				}
				f.Fragment = name
				fragments = append(fragments, f)
			}
		}
		records[id], ids = record, append(ids, id)
	}
	if !slices.Equal(keys.RowOrder(records), ids) {
		for i, id := range ids {
			records[id].(map[string]any)[orderIndex] = fmt.Sprintf("%06d", i+1)
		}
	}
	n.Data = maps.Clone(n.Data)
	n.Data["records"] = records
	n.Nodes, n.Fragments = nil, fragments
	if n.Fragments == nil {
		n.Fragments = []schema.Node{}
	}
	return n
}

// unused returns the name, or the name with the lowest number that makes it unique. `numbers` has the number that was
// tried last for each name, so a number is tried once for all calls.
func unused(name string, numbers map[string]int, used func(name string) bool) string {
	free := name
	for used(free) {
		numbers[name]++
		free = name + "-" + strconv.Itoa(numbers[name]+1)
	}
	return free
}

// rowVersion returns a record as a table with one row.
func (s *side) rowVersion(b *block) any {
	n := *s.blocks[b.place.parent].node
	n.Nodes = []schema.Node{*b.node}
	n = collapse(n)
	return &n
}

// blockOf returns the values of Block and Path for a conflict.
func blockOf(key, path string) (block, inside string) {
	key = strings.TrimLeft(key, foreign)
	table, row, isRow := strings.Cut(key, rowSeparator)
	if !isRow {
		return key, path
	}
	inside = "records." + row
	if path != "" {
		inside += "." + strings.TrimPrefix(path, "data.")
	}
	return table, inside
}
