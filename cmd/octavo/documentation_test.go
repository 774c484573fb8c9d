package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/octavo-docs/octavo/api/remote/gitsync/gitsynctest"
)

// docs is the scenario of TestDocumentation: a server with a space, and the repository of the space's text.
type docs struct {
	*instance
	space string
	forge *gitsynctest.Forge
}

// ask sends a request and decodes its answer.
func (d *docs) ask(method, path string, body any, status int) map[string]any {
	d.t.Helper()
	var data []byte
	if body != nil {
		var err error
		if data, err = json.Marshal(body); err != nil {
			d.t.Fatal(err)
		}
	}
	got, answer := d.request(method, path, d.token, data)
	if got != status {
		d.t.Fatalf("%s %s answers %d %s, want %d", method, path, got, answer, status)
	}
	var decoded map[string]any
	if len(answer) > 0 {
		if err := json.Unmarshal(answer, &decoded); err != nil {
			d.t.Fatalf("%s %s: %v in %s", method, path, err, answer)
		}
	}
	return decoded
}

func (d *docs) in(path string) string { return "/v1/spaces/" + d.space + path }

// sync begins an import or an export and waits until it is over.
func (d *docs) sync(kind string, members map[string]any) {
	d.t.Helper()
	body := map[string]any{"url": d.forge.HTTP.URL + "/guide", "ref": "refs/heads/main", "timestamp": time.Now().UTC().Format(time.RFC3339Nano)}
	for name, value := range members {
		body[name] = value
	}
	d.ask("POST", d.in("/git/"+kind), body, 204)
	d.until(kind+" done", func() error {
		last := d.ask("GET", d.in("/git/operations?limit=1"), nil, 200)["items"].([]any)[0].(map[string]any)
		switch last["state"] {
		case "done":
			return nil
		case "failed":
			d.t.Fatalf("the %s failed: %v", kind, last["reason"])
		}
		return fmt.Errorf("the %s is %v", kind, last["state"])
	})
}

func (d *docs) page(path string) map[string]any {
	d.t.Helper()
	return d.ask("GET", d.in("/content/path/"+strings.ReplaceAll(path, "/", "%2F")+"?format=markdown"), nil, 200)
}

// propose makes a change request with one edit of a page's Markdown.
func (d *docs) propose(subject, page string, old, edited string) string {
	d.t.Helper()
	request := d.ask("POST", d.in("/change-requests"), map[string]any{"subject": subject}, 201)["id"].(string)
	d.change(request, page, old, edited)
	return request
}

func (d *docs) change(request, page, old, edited string) {
	d.t.Helper()
	read := d.ask("GET", d.in("/content/page/"+page+"?format=markdown"), nil, 200)
	markdown, _ := read["markdown"].(string)
	if !strings.Contains(markdown, old) {
		d.t.Fatalf("%q is not in %q", old, markdown)
	}
	d.ask("POST", d.in("/change-requests/"+request+"/content"), map[string]any{"changes": []any{map[string]any{
		"operation": "update_page", "page": page, "document": map[string]any{"markdown": strings.Replace(markdown, old, edited, 1)},
	}}}, 200)
}

// mergeResult merges a change request and returns the answer's result.
func (d *docs) mergeResult(request string) any {
	d.t.Helper()
	return d.ask("POST", d.in("/change-requests/"+request+"/merge"), nil, 200)["result"]
}

// viewed returns the number of views of each page, by the page's current path and title.
func (d *docs) viewed() (map[string]float64, error) {
	d.t.Helper()
	columns, err := d.aggregate(`{"range":"last24Hours","groupBy":[{"column":"page"}],"select":[{"column":"page"},{"column":"eventsCount"}],
		"where":[{"column":"eventType","operator":"in","values":["page_view"]}]}`)
	if err != nil {
		return nil, err
	}
	views := map[string]float64{}
	for n, value := range columns["page"] {
		at, ok := value.(map[string]any)
		if !ok {
			continue
		}
		page := d.ask("GET", fmt.Sprintf("/v1/spaces/%v/content/page/%v", at["space"], at["page"]), nil, 200)
		views[fmt.Sprintf("%v: %v", page["path"], page["title"])] = columns["eventsCount"][n].(float64)
	}
	return views, nil
}

func (d *docs) wantViews(want map[string]float64) {
	d.t.Helper()
	d.until("views", func() error {
		views, err := d.viewed()
		if err == nil && fmt.Sprint(views) != fmt.Sprint(want) {
			err = fmt.Errorf("views are %v, want %v", views, want)
		}
		return err
	})
}

// repository returns the files of a book of some hundred pages, with a summary, folders, front matter, links between
// pages, and an image.
func repository() map[string]string {
	var summary strings.Builder
	summary.WriteString("# Table of contents\n\n* [Welcome](README.md)\n")
	files := map[string]string{
		"README.md":                   "# Welcome\n\nStart with [the first recipe](part-1/recipe-1.md).\n\n![The kitchen](.gitbook/assets/kitchen.png)\n",
		".gitbook.yaml":               "root: ./\nstructure:\n  readme: README.md\n  summary: SUMMARY.md\n",
		".gitbook/assets/kitchen.png": tinyPNG,
		"LICENSE":                     "Do what you like.\n",
	}
	for part := 1; part <= 10; part++ {
		fmt.Fprintf(&summary, "\n## Part %d\n\n", part)
		for recipe := 1; recipe <= 30; recipe++ {
			path := fmt.Sprintf("part-%d/recipe-%d.md", part, recipe)
			fmt.Fprintf(&summary, "* [Recipe %d.%d](%s)\n", part, recipe, path)
			files[path] = fmt.Sprintf(`---
description: How to cook number %d
---

# Recipe %d.%d

Take a large bowl and two eggs.

{%% hint style="info" %%}
Back to the [welcome](../README.md).
{%% endhint %%}

| Step | Minutes |
| --- | --- |
| Mix | %d |

* Stir
* Wait

Then bake it.
`, recipe, part, recipe, recipe)
		}
	}
	files["SUMMARY.md"] = summary.String()
	return files
}

const tinyPNG = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f\x15\xc4\x89\x00\x00\x00\rIDATx\x9cc\xf8\xcf\xc0\xf0\x1f\x00\x05\x00\x01\xff\x89\x99=\x1d\x00\x00\x00\x00IEND\xaeB`\x82"

// TestDocumentation follows a site's text: it is imported from a repository, edited by two people concurrently,
// reviewed, merged with a conflict, exported, printed, published, read, and moved.
func TestDocumentation(t *testing.T) {
	t.Parallel()
	d := &docs{instance: newAttached(t, "OCTAVO_OUTBOUND_ALLOW=127.0.0.1"), forge: gitsynctest.New(t)}
	d.forge.Repository("guide")
	files := repository()
	before := d.forge.Files("guide", "main", files)
	d.space = d.ask("POST", "/v1/orgs/"+d.org+"/spaces", map[string]any{"title": "Guide"}, 201)["id"].(string)

	d.sync("import", nil)
	recipe := d.page("part-1/recipe-1")
	id := recipe["id"].(string)
	if recipe["title"] != "Recipe 1.1" || recipe["description"] != "How to cook number 1" {
		t.Errorf("the page is %v", recipe)
	}

	// Two requests edit two paragraphs of one page. A third request edits the same paragraph as the first.
	first := d.propose("A smaller bowl", id, "large bowl", "small bowl")
	second := d.propose("Fry it", id, "bake it", "fry it")
	third := d.propose("A huge bowl", id, "large bowl", "huge bowl")
	for _, request := range []string{first, second} {
		d.ask("POST", d.in("/change-requests/"+request+"/reviews"), map[string]any{"status": "approved"}, 201)
		if result := d.mergeResult(request); result != "merge" {
			t.Fatalf("the merge's result is %v", result)
		}
	}
	if result := d.mergeResult(third); result != "conflicts" {
		t.Fatalf("the third merge's result is %v", result)
	}
	at := d.in("/change-requests/" + third + "/conflicts")
	conflicts := d.ask("GET", at, nil, 200)["items"].([]any)
	if len(conflicts) != 1 {
		t.Fatalf("conflicts are %v", conflicts)
	}
	conflict := conflicts[0].(map[string]any)
	d.ask("POST", fmt.Sprint(at, "/", conflict["id"]), map[string]any{"take": "ours"}, 200)
	if result := d.mergeResult(third); result != "merge" {
		t.Fatalf("after the choice, the merge's result is %v", result)
	}
	if markdown := d.page("part-1/recipe-1")["markdown"].(string); !strings.Contains(markdown, "huge bowl and two eggs") || !strings.Contains(markdown, "fry it") {
		t.Errorf("the merged page is %s", markdown)
	}

	d.sync("export", map[string]any{"commitMessage": "Smaller bowls"})
	const file = "part-1/recipe-1.md"
	if touched := d.forge.Git("guide", "", "diff", "--name-status", before, "main"); touched != "M\t"+file {
		t.Errorf("the export touched %q", touched)
	}
	want := strings.NewReplacer("large bowl", "huge bowl", "bake it", "fry it").Replace(files[file])
	if got := d.forge.Git("guide", "", "show", "main:"+file); got+"\n" != want {
		t.Errorf("the page's file is\n%s", got)
	}

	d.print()

	// The page is published, read and moved. The dashboard's query returns page ids, and the API has the pages' names.
	d.ask("POST", "/v1/orgs/"+d.org+"/sites/"+d.site+"/site-spaces", map[string]any{"spaceId": d.space}, 201)
	d.ask("POST", "/v1/orgs/"+d.org+"/sites/"+d.site+"/publish", nil, 200)
	view := func(visitor string) {
		event := fmt.Sprintf(`{"type":"page_view","session":{"visitorId":%q,"sessionId":"s"},"location":{"url":"https://docs.example.com/","space":%q,"page":%q}}`,
			visitor, d.space, id)
		if status, answer := d.post(d.token, event); status != 204 {
			t.Fatalf("post: %d %s", status, answer)
		}
	}
	view("v1")
	d.wantViews(map[string]float64{"part-1/recipe-1: Recipe 1.1": 1})
	move := d.ask("POST", d.in("/change-requests"), map[string]any{"subject": "Move"}, 201)["id"].(string)
	welcome := d.page("part-2/recipe-1")["id"]
	d.ask("POST", d.in("/change-requests/"+move+"/content"), map[string]any{"changes": []any{
		map[string]any{"operation": "update_page", "page": id, "into": welcome, "slug": "the-best", "title": "The best recipe"},
	}}, 200)
	if result := d.mergeResult(move); result != "merge" {
		t.Fatalf("the move's result is %v", result)
	}
	view("v2")
	d.wantViews(map[string]float64{"part-2/recipe-1/the-best: The best recipe": 2})
}

// TestGitSession runs the shell commands of GIT.md, which lead from a repository to a site.
func TestGitSession(t *testing.T) {
	t.Parallel()
	i, forge := newAttached(t, "OCTAVO_OUTBOUND_ALLOW=127.0.0.1"), gitsynctest.New(t)
	forge.Repository("book")
	before := forge.Files("book", "main", map[string]string{"README.md": "# Book\n\nText.\n", "more.md": "# More\n\n* one\n* two\n"})
	session := documentSession(t, "api/content/GIT.md", ". data/quickstart.env\nREPOSITORY=")
	output := i.shell(session, "REPOSITORY="+forge.HTTP.URL+"/book")
	for _, want := range []string{`"result":"merge"`, `"result":"conflicts"`, `"status":"resolved"`} {
		if !strings.Contains(output, want) {
			t.Errorf("the session does not show %s:\n%s", want, output)
		}
	}
	pdf, err := os.ReadFile(filepath.Join(filepath.Dir(i.dir), "guide.pdf"))
	if err != nil || !bytes.HasPrefix(pdf, []byte("%PDF-")) {
		t.Errorf("%v, %.100s", err, pdf)
	}
	diff := forge.Git("book", "", "diff", "--unified=0", before, "main")
	if !strings.Contains(diff, "+description: Read this first.") || strings.Contains(diff, "more.md") {
		t.Errorf("the export changed\n%s", diff)
	}
}

// print fetches a PDF of the merged text.
func (d *docs) print() {
	d.t.Helper()
	request := d.ask("POST", d.in("/change-requests"), map[string]any{"subject": "Print"}, 201)["id"].(string)
	address := d.ask("GET", d.in("/change-requests/"+request+"/pdf"), nil, 200)["url"].(string)
	d.until("a PDF", func() error {
		res, err := testClient.Get(address)
		if err != nil {
			return err
		}
		defer func() { _ = res.Body.Close() }()
		body, err := io.ReadAll(res.Body)
		switch {
		case err != nil:
			return err
		case res.StatusCode == http.StatusServiceUnavailable && res.Header.Get("Retry-After") != "":
			return errors.New("it is not there yet")
		case res.StatusCode != http.StatusOK || !bytes.HasPrefix(body, []byte("%PDF-")):
			d.t.Fatalf("the PDF's address answers %d %.200s", res.StatusCode, body)
		}
		return nil
	})
}
