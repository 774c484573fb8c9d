package content_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/octavo-docs/octavo/schema/content"
	"github.com/octavo-docs/octavo/schema/content/keys"
	"github.com/octavo-docs/octavo/schema/content/markdown"
)

func TestSections(t *testing.T) {
	t.Parallel()
	d, err := markdown.Read("Before.\n\n# One\n\nA **b**.\n\n* x\n* y\n\n{% tabs %}\n{% tab title=\"T\" %}\n## Inner\n\nText\n{% endtab %}\n{% endtabs %}\n\n## Two\n\n## One\n\n| a | b |\n|---|---|\n| c | d |\n")
	if err != nil {
		t.Fatal(err)
	}
	keys.Assign(&d, nil)
	var got []string
	for _, section := range content.Sections(d) {
		got = append(got, fmt.Sprintf("%s %s %q", section.Anchor, section.Title, section.Lines))
	}
	want := []string{`one One ["A b." "x" "y" "T" "Inner" "Text"]`, `two Two []`, `one-1 One ["a\tb" "c\td"]`}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
