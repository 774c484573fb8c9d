package pagelinks

import (
	"slices"
	"strings"
	"testing"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content/markdown"
)

// at maps the paths of pages in a revision to their ids.
var at = map[string]string{
	"guides": "p1", "guides/start": "p2", "guides/install": "p3", "api": "p4", "api/v1.2": "p5", "guides/start/deep": "p6", "getting-started": "p7",
}

func read(t *testing.T, text string) schema.Document {
	t.Helper()
	d, err := markdown.Read(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestLinks resolves links of the page guides/start, and writes the references as links again.
func TestLinks(t *testing.T) {
	t.Parallel()
	from := Page{ID: "p2", Path: "guides/start"}
	paths := map[string]string{}
	for path, id := range at {
		paths[id] = path
	}
	for _, c := range []struct{ link, stable, relative string }{
		{"install.md", "ref:page/p3", "install.md"},
		{"./install.md#linux", "ref:anchor/linux?page=p3", "install.md#linux"},
		{"install", "ref:page/p3", "install.md"},
		{"../api.md", "ref:page/p4", "../api.md"},
		{"../api/README.md", "ref:page/p4", "../api.md"},
		{"../api/v1.2.md", "ref:page/p5", "../api/v1.2.md"},
		{"deep.md", "ref:page/p6", "start/deep.md"},
		{"../Getting%20Started.md", "ref:page/p7", "../getting-started.md"},
		{"README.md", "ref:page/p1", "../guides.md"},
		{"#below", "ref:anchor/below?page=p2", "#below"},
		{"nothing.md", "nothing.md", "nothing.md"},
		{"../../out.md", "../../out.md", "../../out.md"},
		{"/install.md", "/install.md", "/install.md"},
		{"https://example.com/install.md", "https://example.com/install.md", "https://example.com/install.md"},
		{"ref:page/gone", "ref:page/gone", "ref:page/gone"},
		{"ref:page/p3?space=other", "ref:page/p3?space=other", "ref:page/p3?space=other"},
	} {
		text := "See [it](" + c.link + ")."
		d := read(t, text)
		targets := Targets(d, from)
		found := map[string]string{}
		for path, id := range at {
			if slices.Contains(targets, path) {
				found[path] = id
			}
		}
		resolved := ToPages(d, from, found)
		if got := markdown.Write(resolved); got != "See [it]("+c.stable+").\n" && got != "See [it]("+c.stable+")." {
			t.Errorf("%s becomes %q, want %s", c.link, got, c.stable)
		}
		known := map[string]string{}
		for _, id := range Pages(resolved) {
			if path, ok := paths[id]; ok {
				known[id] = path
			}
		}
		if got := strings.TrimSpace(markdown.Write(Relative(resolved, from, known))); got != "See [it]("+c.relative+")." {
			t.Errorf("%s becomes %q, want %s", c.link, got, c.relative)
		}
		if got := strings.TrimSpace(markdown.Write(d)); got != text {
			t.Errorf("the document itself became %q, was %q", got, text)
		}
	}
}

// TestManyLinks checks the limit on the number of paths that a caller must look up for one document.
func TestManyLinks(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for i := range 3000 {
		text.WriteString("[x](p" + strings.Repeat("x", i%7) + string(rune('a'+i%26)) + string(rune('a'+i/26%26)) + string(rune('a'+i/676)) + ".md) ")
	}
	if n := len(Targets(read(t, text.String()), Page{ID: "a", Path: "a"})); n != maxTargets {
		t.Errorf("%d targets", n)
	}
}
