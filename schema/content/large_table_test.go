package content_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content"
	"github.com/octavo-docs/octavo/schema/content/markdown"
)

// TestTooLargeTables reads tables that were stored before the limit on cells. All values must be in the text and in the
// Markdown. The empty cells must cost no memory, and a fragment in many cells is shown once.
func TestTooLargeTables(t *testing.T) {
	const columns, rows, most = 10_000, 2_000, 200 << 20
	definition, records := map[string]any{}, map[string]any{}
	for n := range columns {
		definition[fmt.Sprint("c", n)] = map[string]any{"title": fmt.Sprint("title", n), "type": "text"}
	}
	for n := range rows {
		last := fmt.Sprint("c", columns-1)
		records[fmt.Sprint("r", n)] = map[string]any{
			"orderIndex": fmt.Sprintf("%06d", n),
			"values":     map[string]any{"c0": fmt.Sprint("value", n), last: "f"},
		}
	}
	table := schema.Block("table")
	table.Data = schema.Data{"view": map[string]any{"type": "grid"}, "definition": definition, "records": records}
	table.Fragments = []schema.Node{{
		Object: schema.ObjectFragment, Fragment: "f", Type: "table-cell",
		Nodes: []schema.Node{schema.Block("paragraph", schema.Text("shared text"))},
	}}
	d := schema.NewDocument(table)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	plain, written := content.Plain(d), markdown.Write(d)
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > most {
		t.Errorf("the text and the Markdown took %d bytes of memory, want at most %d", used, most)
	}
	if strings.Count(plain, "shared text") != 1 {
		t.Errorf("the text has the fragment %d times", strings.Count(plain, "shared text"))
	}
	again, err := markdown.Read(written)
	if err != nil || len(again.Nodes) != 1 || again.Nodes[0].Type != "code" {
		t.Fatalf("the Markdown is read as %d blocks, %v", len(again.Nodes), err)
	}
	exported := content.Plain(again)
	for n := range rows {
		value := fmt.Sprint("value", n)
		if !strings.Contains(plain, value) || !strings.Contains(exported, value) {
			t.Fatalf("the text or the Markdown has no %s", value)
		}
	}
}
