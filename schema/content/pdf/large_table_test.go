package pdf

import (
	"fmt"
	"strings"
	"testing"

	"github.com/octavo-docs/octavo/schema"
)

// TestTooLargeTable prints a table that was stored before the limit on cells. It must be printed as the text of its
// values.
func TestTooLargeTable(t *testing.T) {
	t.Parallel()
	definition, records := map[string]any{}, map[string]any{}
	for n := range 2000 {
		definition[fmt.Sprint("c", n)] = map[string]any{"title": fmt.Sprint("title", n), "type": "text"}
		records[fmt.Sprint("r", n)] = map[string]any{
			"orderIndex": fmt.Sprintf("%06d", n), "values": map[string]any{fmt.Sprint("c", n): fmt.Sprint("value", n)},
		}
	}
	table := schema.Block("table")
	table.Data = schema.Data{"view": map[string]any{"type": "grid"}, "definition": definition, "records": records}
	made := newBuilder(Source{}).table(&table)
	if made.Kind != "code" || len(made.Rows) > 0 || made.Text == nil {
		t.Fatalf("the table is printed as %q with %d rows", made.Kind, len(made.Rows))
	}
	for n := range 2000 {
		if !strings.Contains(*made.Text, fmt.Sprint("value", n)) {
			t.Fatalf("the sheet has no value%d", n)
		}
	}
}
