package browsertest

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// guide describes an example site and how a person reads it. The start page links to a page about webhooks. On that
// page, a button sends a rating through the tracker's API.
type guide struct {
	name, program string
	build         func(program, folder, snippet string) *exec.Cmd
	path          string // address of the site's second page
	copying       string // selector of the button that copies code
	// opening is the selector of the element that opens the search. `input` and `result` are the selectors of the
	// search's input and of a result. `found` is the number of results that the search shows.
	opening, input, result string
	found                  float64
	// linked is true if the results are links. Only then can the tracker report which result the reader opened.
	linked bool
}

// read reads the site as a person does. Each step must cause its event.
func (g guide) read(t *testing.T) {
	t.Helper()
	program := installed(t, g.program)
	d := newDoor(t)
	base := exampleSite(t, d, g.name, func(folder, snippet string) *exec.Cmd {
		return g.build(program, folder, snippet)
	})
	b := newPerson(t)
	b.open(base+"/", "main h1")
	d.await("page_view", 1)[0].has(t, event{"url": base + "/", "title": "Home | Example"})
	b.do(chromedp.Click(chromedp.CSS(`main a[href*="webhooks"]`)), chromedp.WaitVisible(chromedp.CSS("pre")))
	step := d.await("page_view", 2)[1]
	step.has(t, event{"url": base + g.path, "title": "Webhooks | Example", "referrer": base + "/"})
	b.do(chromedp.Click(chromedp.CSS(g.copying)))
	d.await("code_copy", 1)
	b.do(chromedp.Click(chromedp.CSS("main .helpful")))
	if rating := d.await("page_post_feedback", 1)[0]["feedback"].(map[string]any)["rating"]; rating != "good" {
		t.Errorf("the rating is %v", rating)
	}

	b.do(chromedp.Click(chromedp.CSS(g.opening)), chromedp.WaitVisible(chromedp.CSS(g.input)))
	b.do(chromedp.SendKeys(chromedp.CSS(g.input), "nosuchword"))
	d.await("search_type_query", 1)[0].has(t, event{"query": "nosuchword", "resultsCount": 0.0})
	b.typeOver(g.input, "standard")
	b.do(chromedp.WaitVisible(chromedp.CSS(g.result)))
	d.await("search_type_query", 2)[1].has(t, event{"query": "standard", "resultsCount": g.found})
	b.do(chromedp.Click(chromedp.CSS(g.result)))
	if g.linked {
		opened := d.await("search_open_result", 1)[0]
		if opened.text("query") != "standard" || !strings.HasPrefix(opened.opens(), base+"/") {
			t.Errorf("%v", opened)
		}
	}
	d.await("page_view", 3)[2].has(t, event{"title": "Home | Example", "referrer": base + g.path})
	b.do(chromedp.Click(chromedp.CSS(`main a[href^="http://away.test"]`)))
	if link := d.await("link_click", 1)[0]["link"].(map[string]any); link["position"] != "content" {
		t.Errorf("%v", link)
	}
	d.simple()
}

// TestDocusaurus reads the example site of Docusaurus, which shows another page without loading a document.
func TestDocusaurus(t *testing.T) {
	if testing.Short() {
		t.Skip("building the example sites takes half a minute: CI runs make test-sites")
	}
	t.Parallel()
	guide{
		name: "docusaurus", program: "docusaurus/node_modules/.bin/docusaurus",
		build: func(program, folder, snippet string) *exec.Cmd {
			write(t, filepath.Join(folder, "snippet.mjs"), snippet)
			return exec.CommandContext(t.Context(), program, "build", "--out-dir", "out")
		},
		path: "/webhooks", copying: ".theme-code-block button",
		opening: ".navbar__search-input", input: ".navbar__search-input", result: "[role=option]",
		found: 2, // the search finds the page by its description and by its text
	}.read(t)
}

// TestStarlight reads the example site of Starlight, which loads a document for each page.
func TestStarlight(t *testing.T) {
	if testing.Short() {
		t.Skip("building the example sites takes half a minute: CI runs make test-sites")
	}
	t.Parallel()
	guide{
		name: "starlight", program: "starlight/node_modules/.bin/astro",
		build: func(program, folder, snippet string) *exec.Cmd {
			const functions = "const defineConfig = (config) => config\nconst starlight = (options) => options\n"
			write(t, filepath.Join(folder, "snippet.mjs"), functions+snippet)
			return exec.CommandContext(t.Context(), program, "build", "--outDir", "out")
		},
		path: "/webhooks/", copying: ".copy button",
		opening: "button[data-open-modal]", input: ".pagefind-ui__search-input", result: ".pagefind-ui__result-link",
		found: 1, linked: true,
	}.read(t)
}
