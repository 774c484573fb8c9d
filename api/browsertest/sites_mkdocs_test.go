package browsertest

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestMkDocs reads the example site with MkDocs' default theme as a person does. Each step must cause its event. With
// this theme, the browser loads a new page for each click on a link.
func TestMkDocs(t *testing.T) {
	if testing.Short() {
		t.Skip("building the example sites takes half a minute: CI runs make test-sites")
	}
	t.Parallel()
	program := installed(t, "mkdocs/venv/bin/mkdocs")
	d := newDoor(t)
	base := exampleSite(t, d, "mkdocs-plain", func(folder, snippet string) *exec.Cmd {
		yml, script, _ := strings.Cut(snippet, "// In docs/octavo.js:\n")
		write(t, filepath.Join(folder, "snippet.yml"), yml)
		write(t, filepath.Join(folder, "docs/octavo.js"), script)
		out := filepath.Join(folder, "out")
		return exec.CommandContext(t.Context(), program, "build", "--quiet", "--site-dir", out)
	})
	b := newPerson(t)
	b.open(base+"/", "[role=main] h1")
	d.await("page_view", 1)[0].has(t, event{"url": base + "/", "title": "Example"})
	b.do(chromedp.Click(chromedp.CSS("[role=main] a[href*=webhooks]")), chromedp.WaitVisible(chromedp.CSS("pre")))
	d.await("page_view", 2)[1].has(t, event{
		"url": base + "/webhooks/", "title": "Webhooks - Example", "referrer": base + "/",
	})

	const input, result = "#mkdocs-search-query", "#mkdocs-search-results article a"
	b.do(
		chromedp.Click(chromedp.CSS(`[data-bs-target="#mkdocs_search_modal"]`)),
		chromedp.WaitVisible(chromedp.CSS(input)),
		chromedp.SendKeys(chromedp.CSS(input), "nosuchword"),
	)
	d.await("search_type_query", 1)[0].has(t, event{"query": "nosuchword", "resultsCount": 0.0})
	b.typeOver(input, "standard")
	b.do(chromedp.WaitVisible(chromedp.CSS(result)))
	// The search finds two results: the page and its heading.
	d.await("search_type_query", 2)[1].has(t, event{"query": "standard", "resultsCount": 2.0})
	b.do(chromedp.Click(chromedp.CSS(result)))
	opened := d.await("search_open_result", 1)[0]
	if opened.text("query") != "standard" || !strings.HasPrefix(opened.opens(), base+"/") {
		t.Errorf("%v", opened)
	}
	d.await("page_view", 3)
	b.do(chromedp.Click(chromedp.CSS(`[role=main] a[href^="http://away.test"]`)))
	if link := d.await("link_click", 1)[0]["link"].(map[string]any); link["position"] != "content" {
		t.Errorf("%v", link)
	}
	d.simple()
}
