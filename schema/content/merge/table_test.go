package merge

import (
	"fmt"
	"testing"

	"github.com/octavo-docs/octavo/schema"
)

// TestNamesOfRowsCost gives one id and one fragment's name to all rows of a table, and counts the allocations. Each
// name that is tried is at least one allocation.
func TestNamesOfRowsCost(t *testing.T) {
	const count = 2000
	table := schema.Node{Type: typeTable, Data: schema.Data{}}
	for range count {
		table.Nodes = append(table.Nodes, schema.Node{
			Type: typeRow, Key: "t" + rowSeparator + "a",
			Data:      schema.Data{"values": map[string]any{"c": "f"}},
			Fragments: []schema.Node{{Object: schema.ObjectFragment, Fragment: "f"}},
		})
	}
	var made schema.Node
	allocations := testing.AllocsPerRun(1, func() { made = collapseTable(table) })
	if allocations > 100*count {
		t.Errorf("%d rows took %.0f allocations", count, allocations)
	}
	records, _ := made.Data["records"].(map[string]any)
	last, _ := records[fmt.Sprintf("a-%d", count)].(map[string]any)
	values, _ := last["values"].(map[string]any)
	if want := fmt.Sprintf("f-%d", count); len(records) != count || values["c"] != want {
		t.Errorf("%d records, and the last one has the values %v, want %s", len(records), values, want)
	}
}
