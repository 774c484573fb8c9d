package browsertest

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/octavo-docs/octavo/api/tracker"
)

// exampleSite builds an example site with the output of `octavo site snippet`, in a folder below sites, and serves the
// result.
func exampleSite(t *testing.T, d *door, name string, build func(folder, snippet string) *exec.Cmd) string {
	t.Helper()
	snippet, err := tracker.Snippet(name, tracker.Site{Base: d.base, Key: trackerKey})
	if err != nil {
		t.Fatal(err)
	}
	source, err := filepath.Abs(filepath.Join("sites", name))
	if err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(source)
	if err != nil {
		t.Fatal(err)
	}
	// The build folder is in the site's source folder, because generators look for node_modules in the folder above. A
	// symbolic link to node_modules would not work, because they would treat its files as files of the site.
	folder, err := os.MkdirTemp(source, ".build-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(folder); err != nil {
			t.Error(err)
		}
	})
	for _, entry := range entries {
		to := filepath.Join(folder, entry.Name())
		from := filepath.Join(source, entry.Name())
		switch {
		case entry.Name() == "node_modules" || entry.Name() == "venv" || strings.HasPrefix(entry.Name(), "."):
		case entry.IsDir():
			err = os.CopyFS(to, os.DirFS(from))
		default:
			var text []byte
			if text, err = os.ReadFile(from); err == nil {
				err = os.WriteFile(to, text, 0o600)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	server := httptest.NewServer(http.FileServer(http.Dir(filepath.Join(folder, "out"))))
	t.Cleanup(server.Close)
	base := strings.Replace(server.URL, "127.0.0.1", "docs.test", 1)
	command := build(folder, snippet)
	command.Dir, command.Env = folder, append(os.Environ(), "SITE_URL="+base+"/")
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return base
}

// write writes a file of a site, and creates its folders.
func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// installed returns a program of an example site, or skips the test.
func installed(t *testing.T, path string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("sites", path))
	if err == nil {
		_, err = os.Stat(path)
	}
	if err != nil {
		t.Skip("the example sites are not installed (make sites): CI runs make test-sites: ", err)
	}
	return path
}

// newPerson starts a browser that does not report that a program controls it. The tracker sends no events of a browser
// that reports this.
func newPerson(t *testing.T) *tab {
	return newTab(t, "host-resolver-rules", "MAP *.test 127.0.0.1", "disable-blink-features", "AutomationControlled")
}

// typeOver selects the text of an input, and types a new text over it, key by key.
func (b *tab) typeOver(selector, text string) {
	b.t.Helper()
	b.run("document.querySelector('" + selector + "').select()")
	b.do(chromedp.KeyEvent(text))
}

// TestVitePress reads the example site of VitePress.
func TestVitePress(t *testing.T) {
	if testing.Short() {
		t.Skip("building the example sites takes half a minute: CI runs make test-sites")
	}
	t.Parallel()
	program := installed(t, "vitepress/node_modules/.bin/vitepress")
	d := newDoor(t)
	base := exampleSite(t, d, "vitepress", func(folder, snippet string) *exec.Cmd {
		write(t, filepath.Join(folder, "docs/.vitepress/snippet.mjs"), snippet)
		return exec.CommandContext(t.Context(), program, "build", "docs", "--outDir", filepath.Join(folder, "out"))
	})
	b := newPerson(t)
	b.open(base+"/", "main h1")
	d.await("page_view", 1)[0].has(t, event{"url": base + "/", "title": "Home | Example"})
	b.do(chromedp.Click(chromedp.CSS(`main a[href*="webhooks"]`)), chromedp.WaitVisible(chromedp.CSS("button.copy")))
	step := d.await("page_view", 2)[1]
	step.has(t, event{"url": base + "/webhooks.html", "title": "Webhooks | Example", "referrer": base + "/"})
	b.do(chromedp.Click(chromedp.CSS("button.copy")))
	d.await("code_copy", 1)

	const search = "#localsearch-input"
	b.do(chromedp.Click(chromedp.CSS(".VPNavBarSearch button")), chromedp.WaitVisible(chromedp.CSS(search)))
	b.do(chromedp.SendKeys(chromedp.CSS(search), "nosuchword"))
	d.await("search_type_query", 1)[0].has(t, event{"query": "nosuchword", "resultsCount": 0.0})
	b.typeOver(search, "standard")
	d.await("search_type_query", 2)[1].has(t, event{"query": "standard", "resultsCount": 1.0})
	b.do(chromedp.SendKeys(chromedp.CSS(search), "\r"))
	opened := d.await("search_open_result", 1)[0]
	if opened.text("query") != "standard" || !strings.HasPrefix(opened.opens(), base+"/") {
		t.Errorf("%v", opened)
	}
	d.await("page_view", 3)
	b.do(chromedp.Click(chromedp.CSS(`main a[href^="https://away.test"]`)))
	if link := d.await("link_click", 1)[0]["link"].(map[string]any); link["position"] != "content" {
		t.Errorf("%v", link)
	}
	d.simple()
}

// TestMaterial reads the example site of Material for MkDocs, which shows another page without loading a document.
func TestMaterial(t *testing.T) {
	if testing.Short() {
		t.Skip("building the example sites takes half a minute: CI runs make test-sites")
	}
	t.Parallel()
	program := installed(t, "mkdocs/venv/bin/mkdocs")
	d := newDoor(t)
	base := exampleSite(t, d, "mkdocs", func(folder, snippet string) *exec.Cmd {
		yml, partial, _ := strings.Cut(snippet, "<!-- In overrides/partials/integrations/analytics/octavo.html: -->\n")
		write(t, filepath.Join(folder, "snippet.yml"), yml)
		write(t, filepath.Join(folder, "overrides/partials/integrations/analytics/octavo.html"), partial)
		return exec.CommandContext(t.Context(), program, "build", "--quiet", "--site-dir", filepath.Join(folder, "out"))
	})
	b := newPerson(t)
	b.open(base+"/", "article h1")
	d.await("page_view", 1)[0].has(t, event{"url": base + "/", "title": "Example"})
	b.do(chromedp.Click(chromedp.CSS(`article a[href*="webhooks"]`)), chromedp.WaitVisible(chromedp.CSS("article pre")))
	step := d.await("page_view", 2)[1]
	step.has(t, event{"url": base + "/webhooks/", "title": "Webhooks - Example", "referrer": base + "/"})

	const search, row = "input.md-search__input", "li.md-search-result__item a"
	b.do(chromedp.Click(chromedp.CSS(search)), chromedp.SendKeys(chromedp.CSS(search), "nosuchword"))
	d.await("search_type_query", 1)[0].has(t, event{"query": "nosuchword", "resultsCount": 0.0})
	b.typeOver(search, "standard")
	b.do(chromedp.WaitVisible(chromedp.CSS(row)))
	d.await("search_type_query", 2)[1].has(t, event{"query": "standard", "resultsCount": 1.0})
	b.do(chromedp.Click(chromedp.CSS(row)))
	opened := d.await("search_open_result", 1)[0]
	if opened.text("query") != "standard" || !strings.HasPrefix(opened.opens(), base+"/") {
		t.Errorf("%v", opened)
	}
	d.await("page_view", 3)

	b.do(chromedp.Click(chromedp.CSS(`form[name=feedback] [data-md-value="1"]`)))
	if rating := d.await("page_post_feedback", 1)[0]["feedback"].(map[string]any)["rating"]; rating != "good" {
		t.Errorf("the rating is %v", rating)
	}
	b.do(chromedp.WaitVisible(chromedp.CSS(`.md-feedback__note [data-md-value="1"]`)))
	b.do(chromedp.Click(chromedp.CSS(`article a[href^="http://away.test"]`)))
	if link := d.await("link_click", 1)[0]["link"].(map[string]any); link["position"] != "content" {
		t.Errorf("%v", link)
	}
	d.simple()
}
