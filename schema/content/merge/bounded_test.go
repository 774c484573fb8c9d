package merge_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest/cputime"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content/keys"
	"github.com/octavo-docs/octavo/schema/content/merge"
)

// TestDocumentsAreBounded merges documents of the largest size. Some have many moved blocks, and others have one huge
// block. With -short, the documents have an eighth of the blocks, and the time limit is an eighth.
func TestDocumentsAreBounded(t *testing.T) {
	t.Parallel()
	blocks, most := schema.MaxDocumentNodes/2, 30*time.Second
	if testing.Short() {
		blocks, most = blocks/8, most/8
	}
	many := func(text func(i int) string) []schema.Node {
		var list []schema.Node
		for i := range blocks {
			list = append(list, schema.Block("paragraph", schema.Text(text(i))))
		}
		return list
	}
	long := func(word string, n int) []schema.Node {
		var text strings.Builder
		for i := range n {
			fmt.Fprint(&text, word, i%7, " ")
		}
		return []schema.Node{schema.Block("paragraph", schema.Text(text.String()))}
	}
	reversed := func(nodes []schema.Node) []schema.Node {
		nodes = slices.Clone(nodes)
		slices.Reverse(nodes)
		return nodes
	}
	own := many(func(i int) string { return fmt.Sprint("a", i, " b c d") })
	edited := many(func(i int) string { return fmt.Sprint("a", i, " b c D") })
	added := many(func(i int) string { return fmt.Sprint("on a line ", i) })
	for name, c := range map[string][3][]schema.Node{
		"edited":   {own, edited, many(func(i int) string { return fmt.Sprint("A", i, " b c d") })},
		"reversed": {own, reversed(own), own[:len(own)-1]},
		"the same": {many(func(int) string { return "x" }), many(func(int) string { return "x y" })[1:], many(func(int) string { return "z x" })[2:]},
		"twins":    {own[:2], slices.Concat(added[2:], own[:2]), slices.Concat(own[:2], reversed(added[2:]))},
		"deleted":  {own, edited, append(slices.Clone(own[:1]), added[:99]...)},
		"replaced": {own, edited, added},
		"one huge": {long("a", 40_000), long("b", 40_000), long("c", 39_000)},
		"words":    {long("a", 40_000), append(long("a", 40_000), long("b", 1)...), long("a", 39_990)},
	} {
		t.Run(name, func(t *testing.T) {
			took := cputime.Of(func() {
				base := schema.NewDocument(c[0]...)
				keys.Assign(&base, nil)
				ours, theirs := schema.NewDocument(keys.Clone(c[1])...), schema.NewDocument(keys.Clone(c[2])...)
				keys.Assign(&ours, &base)
				keys.Assign(&theirs, &base)
				merged, _ := merge.Documents(base, ours, theirs, nil)
				if problems := merged.Problems(""); len(problems) > 0 {
					t.Errorf("the merged document has problems: %+v", problems)
				}
			})
			if took > most {
				t.Errorf("the merge took %v of processor time, want at most %v", took, most)
			}
		})
	}
}
