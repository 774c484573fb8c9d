package pagelinks

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content/markdown"
)

// TestResolve checks how links of a page become references. It uses a space with a repository, and a space without a
// repository.
func TestResolve(t *testing.T) {
	t.Parallel()
	pic, note := schema.NewID(), schema.NewID()
	files := map[string]Target{
		"docs/README.md": {Page: "home"}, "docs/guide/README.md": {Page: "p1"}, "docs/guide/My_Page.md": {Page: "p2"},
		"docs/x/a b.md":  {Page: "p3"},
		"docs/img/P.png": {File: pic}, "docs/.gitbook/includes/n.md": {File: note}, "src/main.go": {},
	}
	pages := map[string]string{"guides/my-page": "p2", "guides": "p1", "guides/start": "p4", "changelog": "p5",
		"src/main-go": "p6"}
	inGit := Page{ID: "p4", Path: "guides/start", File: "docs/guide/Start.md", Root: "docs/"}
	plain := Page{ID: "p4", Path: "guides/start"}
	for _, c := range []struct {
		from       Page
		text, want string
	}{
		{inGit, "[l](My_Page.md)", "[l](ref:page/p2)"},
		{inGit, "[l](./My_Page.md#one)", "[l](ref:anchor/one?page=p2)"},
		{inGit, "[l](../x/a%20b.md)", "[l](ref:page/p3)"},
		{inGit, "[l](../guide/)", "[l](ref:page/p1)"},
		{inGit, "[l](../guide)", "[l](ref:page/p1)"},
		{inGit, "[l](./)", "[l](ref:page/p1)"},
		{inGit, "[l](../README.md#a)", "[l](ref:anchor/a?page=home)"},
		{inGit, "![l](../img/P.png)", "![l](ref:file/" + pic + ")"},
		{inGit, "[l](../img/P.png)", "[l](ref:file/" + pic + ")"},
		{inGit, "{% file src=\"../img/P.png\" %}", "{% file src=\"" + pic + "\" %}"},
		{inGit, "{% include \"../.gitbook/includes/n.md\" %}", "{% include \"" + note + "\" %}"},
		{inGit, "{% include \".gitbook/includes/n.md\" %}", "{% include \"" + note + "\" %}"},
		{inGit, "{% content-ref url=\"My_Page.md\" %}\n[x](My_Page.md)\n{% endcontent-ref %}",
			"{% content-ref url=\"ref:page/p2\" %}"},
		{inGit, "[l](my-page.md)", "[l](ref:page/p2)"}, // the path of the page, which is not the path of a file
		{inGit, "[l](../../changelog.md)", "[l](../../changelog.md)"},
		{inGit, "[l](../../src/main.go)", "[l](../../src/main.go)"},
		{inGit, "[l](#own)", "[l](#own)"},
		{inGit, "[l](gone.md)", "[l](gone.md)"},
		{inGit, "[l](https://x.example/My_Page.md)", "[l](https://x.example/My_Page.md)"},
		{plain, "[l](my-page.md#a)", "[l](ref:anchor/a?page=p2)"},
		{plain, "[l](../guides.md)", "[l](ref:page/p1)"},
		{plain, "[l](My_Page.md)", "[l](ref:page/p2)"},
		{plain, "[l](#own)", "[l](#own)"},
	} {
		d := read(t, c.text)
		targets := FileTargets(d, c.from)
		known := Known{Pages: pages, Files: map[string]Target{}}
		for name, target := range files {
			if slices.Contains(targets, name) {
				known.Files[name] = target
			}
		}
		if got := strings.TrimSpace(markdown.Write(known.Resolve(d, c.from))); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s becomes %s, want %s", c.text, got, c.want)
		}
		if want := !strings.Contains(c.text, "#own") && !strings.Contains(c.text, "https:"); HasPaths(d) != want {
			t.Errorf("%s has paths: %v", c.text, !want)
		}
	}
}

// TestAsIn checks that a reference keeps its form if the previous document had a reference to the same target.
func TestAsIn(t *testing.T) {
	t.Parallel()
	p, self := schema.NewID(), schema.NewID()
	from := Page{ID: self, Path: "self"}
	known := Known{Pages: map[string]string{"page": p, "self": self}}
	link := func(form string, links []string) schema.Document {
		text := ""
		for _, l := range links {
			text += strings.ReplaceAll(form, "@", l)
		}
		return read(t, text)
	}
	anchor := "ref:anchor/a?page=" + self
	for i, c := range []struct{ before, now, want []string }{
		{[]string{"#a", anchor}, []string{anchor, anchor}, []string{"#a", anchor}},
		{[]string{"#a", anchor}, []string{"#a", "#a"}, []string{"#a", anchor}},
		{[]string{"#a", anchor}, []string{anchor, "#a"}, []string{"#a", anchor}},
		{[]string{"#a", anchor}, []string{anchor}, []string{anchor}},
		{[]string{"#a"}, []string{"/pages/" + self + "#a", "#a"}, []string{"#a", "#a"}},
		{[]string{"page.md"}, []string{"ref:page/" + p}, []string{"page.md"}},
		{[]string{"page.md"}, []string{"ref:page/" + p, "page.md", "#b"}, []string{"page.md", "page.md", "#b"}},
		{[]string{"ref:page/" + p}, []string{"page.md#c"}, []string{"page.md#c"}},
		{nil, []string{"/pages/" + p}, []string{"/pages/" + p}},
	} {
		for _, form := range []string{
			"[x](@)\n\n", "| a |\n| - |\n| [x](@) |\n\n",
			"<div class=\"a\">\n<section><a href=\"@\">x</a></section>\n</div>\n\n",
		} {
			before, now := link(form, c.before), link(form, c.now)
			got, want := markdown.Write(known.AsIn(before, now, from)), markdown.Write(link(form, c.want))
			if got != want {
				t.Errorf("%d: %q, want %q", i, got, want)
			}
		}
	}
}

// TestResolvable checks that Resolvable returns false for documents with too many relative links.
func TestResolvable(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for i := range maxTargets/4 - 1 {
		fmt.Fprintf(&text, "[x](page-%d.md)\n", i)
	}
	for _, from := range []Page{{ID: "a", Path: "a"}, {ID: "a", Path: "a", File: "a.md"}} {
		if !Resolvable(read(t, text.String()), from) ||
			Resolvable(read(t, text.String()+strings.ReplaceAll(text.String(),
				"page", "other")+
				strings.ReplaceAll(text.String(), "page", "more")), from) {
			t.Errorf("%+v", from)
		}
	}
}
