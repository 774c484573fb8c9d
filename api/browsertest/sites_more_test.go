package browsertest

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// readSite is an example site with a start page, which links to a page about webhooks, and how a reader uses it.
type readSite struct {
	name, program string
	build         func(program, folder, snippet string) *exec.Cmd
	// heading is in each page. titles are the titles of both pages, and path is the address of the second.
	heading string
	titles  [2]string
	path    string
	// copied copies the code of the second page; "" for a site without such a button.
	copied string
	// opened opens the search. input and result are the search's, and found is how many results it shows.
	opened, input, result string
	found                 float64
}

// read reads the site as a person does, and requires the event of each step.
func (s readSite) read(t *testing.T) {
	if testing.Short() {
		t.Skip("building the example sites takes minutes: make test-sites-all")
	}
	program := installed(t, s.program)
	d := newDoor(t)
	base := exampleSite(t, d, s.name, func(folder, snippet string) *exec.Cmd {
		return s.build(program, folder, snippet)
	})
	b := newPerson(t)
	b.open(base+"/", s.heading)
	d.await("page_view", 1)[0].has(t, event{"url": base + "/", "title": s.titles[0]})
	b.do(
		chromedp.Click(chromedp.CSS(`main a[href*="webhooks"], [role=main] a[href*="webhooks"]`)),
		chromedp.WaitVisible(chromedp.CSS("pre")),
	)
	d.await("page_view", 2)[1].has(t, event{"url": base + s.path, "title": s.titles[1], "referrer": base + "/"})
	if s.copied != "" {
		b.do(chromedp.Click(chromedp.CSS(s.copied)))
		d.await("code_copy", 1)
	}

	b.do(chromedp.Click(chromedp.CSS(s.opened)), chromedp.WaitVisible(chromedp.CSS(s.input)))
	b.do(chromedp.SendKeys(chromedp.CSS(s.input), "nosuchword"))
	d.await("search_type_query", 1)[0].has(t, event{"query": "nosuchword", "resultsCount": 0.0})
	b.typeOver(s.input, "standard")
	b.do(chromedp.WaitVisible(chromedp.CSS(s.result)))
	d.await("search_type_query", 2)[1].has(t, event{"query": "standard", "resultsCount": s.found})
	b.do(chromedp.Click(chromedp.CSS(s.result)))
	opened := d.await("search_open_result", 1)[0]
	if opened.text("query") != "standard" || !strings.HasPrefix(opened.opens(), base+"/") {
		t.Errorf("%v", opened)
	}
	d.await("page_view", 3)
	b.do(chromedp.Click(chromedp.CSS(`main a[href^="http://away.test"], [role=main] a[href^="http://away.test"]`)))
	if link := d.await("link_click", 1)[0]["link"].(map[string]any); link["position"] != "content" {
		t.Errorf("%v", link)
	}
	d.simple()
}

// TestDocusaurus reads the example site of Docusaurus, which goes from page to page without loading them.
func TestDocusaurus(t *testing.T) {
	t.Parallel()
	readSite{
		name: "docusaurus", program: "docusaurus/node_modules/.bin/docusaurus",
		build: func(program, folder, snippet string) *exec.Cmd {
			write(t, filepath.Join(folder, "snippet.mjs"), snippet)
			return exec.CommandContext(t.Context(), program, "build", "--out-dir", "out")
		},
		heading: "main h1", titles: [2]string{"Home | Example", "Webhooks | Example"}, path: "/webhooks",
		copied: "pre + div button, .theme-code-block button", opened: ".navbar__search-input",
		input: ".navbar__search-input", result: "[role=option]", found: 1,
	}.read(t)
}

// TestStarlight reads the example site of Starlight, which loads each page.
func TestStarlight(t *testing.T) {
	t.Parallel()
	readSite{
		name: "starlight", program: "starlight/node_modules/.bin/astro",
		build: func(program, folder, snippet string) *exec.Cmd {
			const functions = "const defineConfig = (config) => config\nconst starlight = (options) => options\n"
			write(t, filepath.Join(folder, "snippet.mjs"), functions+snippet)
			return exec.CommandContext(t.Context(), program, "build", "--outDir", "out")
		},
		heading: "main h1", titles: [2]string{"Home | Example", "Webhooks | Example"}, path: "/webhooks/",
		copied: ".copy button", opened: "button[data-open-modal]", input: ".pagefind-ui__search-input",
		result: ".pagefind-ui__result-link", found: 1,
	}.read(t)
}

// TestMkDocs reads the example site of MkDocs with its own theme, which loads each page.
func TestMkDocs(t *testing.T) {
	t.Parallel()
	readSite{
		name: "mkdocs-plain", program: "mkdocs/venv/bin/mkdocs",
		build: func(program, folder, snippet string) *exec.Cmd {
			yml, script, _ := strings.Cut(snippet, "// In docs/octavo.js:\n")
			write(t, filepath.Join(folder, "snippet.yml"), yml)
			write(t, filepath.Join(folder, "docs/octavo.js"), script)
			out := filepath.Join(folder, "out")
			return exec.CommandContext(t.Context(), program, "build", "--quiet", "--site-dir", out)
		},
		heading: "[role=main] h1", titles: [2]string{"Example", "Webhooks - Example"}, path: "/webhooks/",
		opened: `[data-bs-target="#mkdocs_search_modal"]`, input: "#mkdocs-search-query",
		result: "#mkdocs-search-results article a", found: 2, // a page and its heading
	}.read(t)
}
