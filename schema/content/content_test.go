package content_test

import (
	"fmt"
	"testing"

	"github.com/octavo-docs/octavo/schema/content"
	"github.com/octavo-docs/octavo/schema/content/markdown"
)

func TestPlain(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		markdown, plain string
	}{
		{"", ""},
		{"# One **two**\n\nthree-four don't", "One two\nthree-four don't"},
		{"- a\n- b\n\n| A | B |\n|--|--|\n| c | d |", "a\nb\nA\tB\nc\td"},
		{"漢字 ok", "漢字 ok"},
		{"```\nx 1\n```", "x 1"},
		{"café — 3.5", "café — 3.5"},
	} {
		d, err := markdown.Read(c.markdown)
		if err != nil {
			t.Fatal(err)
		}
		if got := content.Plain(d); got != c.plain {
			t.Errorf("%q: %q", c.markdown, got)
		}
	}
}

// TestOptionLabels reads the labels of two columns many times. Only the first time reads the options.
func TestOptionLabels(t *testing.T) {
	column := func(name string) map[string]any {
		list := []any{"no option", map[string]any{"value": "a", "label": name + " first"}}
		for n := range 1000 {
			list = append(list, map[string]any{"value": fmt.Sprint("v", n), "label": fmt.Sprint(name, n)})
		}
		return map[string]any{"options": append(list, map[string]any{"value": "a", "label": "second"})}
	}
	labels, x, y := content.OptionLabels{}, column("x"), column("y")
	for _, about := range []map[string]any{x, y, x} {
		got := labels.Of(about)
		name := "y"
		if got["v0"] == "x0" {
			name = "x"
		}
		if len(got) != 1001 || got["a"] != name+" first" || got["v999"] != name+"999" {
			t.Errorf("%d labels of %s, such as %q and %q", len(got), name, got["a"], got["v999"])
		}
	}
	if labels.Of(x)["v0"] != "x0" || labels.Of(y)["v0"] != "y0" || labels.Of(map[string]any{}) != nil {
		t.Error("the labels belong to another column")
	}
	if allocations := testing.AllocsPerRun(10, func() { labels.Of(x); labels.Of(y) }); allocations > 0 {
		t.Errorf("the labels of known columns took %.0f allocations", allocations)
	}
}
