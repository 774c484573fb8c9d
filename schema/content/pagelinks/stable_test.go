package pagelinks

import (
	"strings"
	"testing"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content/markdown"
)

// TestStable writes references as addresses with ids. If such addresses are read, they must give the same references.
// All other addresses stay unchanged.
func TestStable(t *testing.T) {
	t.Parallel()
	from, p, s := Page{ID: schema.NewID(), Path: "guides/start"}, schema.NewID(), schema.NewID()
	to := map[string]string{p: "guides/install", from.ID: from.Path}
	for _, c := range []struct{ link, stable, ref, relative string }{
		{"ref:page/" + p, "/pages/" + p, "ref:page/" + p, "install.md"},
		{"ref:anchor/linux?page=" + p, "/pages/" + p + "#linux", "ref:anchor/linux?page=" + p, "install.md#linux"},
		{"#below", "/pages/" + from.ID + "#below", "ref:anchor/below?page=" + from.ID, "#below"},
		{"ref:page/" + p + "?space=" + s, "/spaces/" + s + "/pages/" + p, "ref:page/" + p + "?space=" + s, "/spaces/" + s + "/pages/" + p},
		{
			"ref:anchor/linux?page=" + p + "&space=" + s, "/spaces/" + s + "/pages/" + p + "#linux", "ref:anchor/linux?page=" + p + "&space=" + s,
			"/spaces/" + s + "/pages/" + p + "#linux",
		},
		{"ref:space/" + s, "/spaces/" + s, "ref:space/" + s, "/spaces/" + s},
		{"ref:user/" + p, "ref:user/" + p, "ref:user/" + p, "ref:user/" + p},
		{"ref:file/" + p, "ref:file/" + p, "ref:file/" + p, "ref:file/" + p},
		{"/pages/about", "/pages/about", "/pages/about", "/pages/about"},
		{"/pages/" + p + "/x", "/pages/" + p + "/x", "/pages/" + p + "/x", "/pages/" + p + "/x"},
		{"/spaces/" + s + "/", "/spaces/" + s + "/", "/spaces/" + s + "/", "/spaces/" + s + "/"},
		{"/spaces/x/pages/" + p, "/spaces/x/pages/" + p, "/spaces/x/pages/" + p, "/spaces/x/pages/" + p},
		{"pages/" + p, "pages/" + p, "pages/" + p, "pages/" + p},
	} {
		text := func(link string) string { return "See [it](" + link + ")." }
		write := func(d schema.Document) string { return strings.TrimSpace(markdown.Write(d)) }
		d := ToPages(read(t, text(c.link)), from, nil)
		if got := write(Stable(d)); got != text(c.stable) {
			t.Errorf("%s becomes %s, want %s", c.link, got, c.stable)
		}
		again := read(t, text(c.stable))
		if got := write(ToPages(again, from, nil)); got != text(c.ref) {
			t.Errorf("%s is read as %s, want %s", c.stable, got, c.ref)
		}
		paths := map[string]string{}
		for _, id := range Pages(again) {
			paths[id] = to[id]
		}
		if got := write(Relative(again, from, paths)); got != text(c.relative) {
			t.Errorf("%s becomes %s, want %s", c.stable, got, c.relative)
		}
		if got := write(again); got != text(c.stable) {
			t.Errorf("the document itself became %s, was %s", got, c.stable)
		}
	}
}
