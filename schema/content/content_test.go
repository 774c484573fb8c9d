package content_test

import (
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
