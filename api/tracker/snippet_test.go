package tracker

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSnippets checks all snippets. They contain the publishable key, and the server's address with a path. A snippet
// that loads a script names a file that nodes serve. It has the file's hash, unless it loads the newest bundle. No
// placeholder is left in the text.
func TestSnippets(t *testing.T) {
	t.Parallel()
	files := byPath(t)
	for _, name := range Names() {
		for _, newest := range []bool{false, true} {
			text, err := Snippet(name, Site{Base: "https://octavo.example.com/stats/", Key: "opk_a-b_c.1", Newest: newest})
			if err != nil {
				t.Fatal(err)
			}
			if name == "pixel" {
				if !strings.Contains(text, `src="https://octavo.example.com/stats/e/opk_a-b_c.1.gif?`) {
					t.Errorf("%s", text)
				}
				continue
			}
			if strings.Count(text, "opk_a-b_c.1") != 1 || strings.Count(text, "https://octavo.example.com/stats/o.docs.") != 1 {
				t.Errorf("%s: %s", name, text)
			}
			if strings.Contains(text, "{src}") || strings.Contains(text, "{tag}") || strings.Contains(text, "{ }") {
				t.Errorf("%s: %s", name, text)
			}
			if strings.Contains(text, load(Docs).integrity) == newest || strings.Contains(text, "nonymous") == newest {
				t.Errorf("%s, newest is %v: %s", name, newest, text)
			}
			_, path, _ := strings.Cut(text, "https://octavo.example.com/stats")
			path = path[:strings.IndexAny(path, `"'`)]
			if file, ok := files[path]; !ok || file.Fixed == newest {
				t.Errorf("%s: no node serves %s", name, path)
			}
		}
	}
}

// TestSnippetIsRefused: values that would break a page are refused.
func TestSnippetIsRefused(t *testing.T) {
	t.Parallel()
	good := Site{Base: "https://octavo.example.com", Key: "opk_x"}
	if _, err := Snippet("word", good); !errors.Is(err, ErrUnknownForm) {
		t.Errorf("%v", err)
	}
	for _, site := range []Site{
		{Base: good.Base}, {Base: good.Base, Key: "opk_"}, {Base: good.Base, Key: `opk_"><script>`}, {Base: good.Base, Key: "opk_'"},
		{Base: good.Base, Key: "gb_api_token"}, {Base: "octavo.example.com", Key: good.Key}, {Base: "ftp://octavo.example.com", Key: good.Key},
		{Base: "https://octavo.example.com/?a=b", Key: good.Key}, {Base: "https://octavo.example.com/#a", Key: good.Key}, {Key: good.Key},
	} {
		if text, err := Snippet("html", site); err == nil {
			t.Errorf("%v: %s", site, text)
		}
	}
}

// TestSnippetsHaveSyntax gives the parts that are scripts to Node.js.
func TestSnippetsHaveSyntax(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	for name, to := range map[string]string{"docusaurus": "", "vitepress": "", "starlight": "", "mkdocs-plain": "// In docs/octavo.js:\n", "gitbook": "// In src/octavo.raw.js:\n"} {
		text, err := Snippet(name, Site{Base: "https://octavo.example.com", Key: "opk_x"})
		if err != nil {
			t.Fatal(err)
		}
		if to != "" {
			_, text, _ = strings.Cut(text, to)
		}
		file := name + ".mjs"
		if err := os.WriteFile(filepath.Join(folder, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		node(t, folder, `import { execFileSync } from 'node:child_process'
			execFileSync(process.execPath, ['--check', '`+file+`'], { stdio: 'inherit' })`)
	}
}
