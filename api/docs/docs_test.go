package docs_test

import (
	"bytes"
	"encoding/json"
	"go/parser"
	"go/token"
	"net/url"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	esbuild "github.com/evanw/esbuild/pkg/api"
	"github.com/getkin/kin-openapi/openapi3"

	"github.com/octavo-docs/octavo/api"
	"github.com/octavo-docs/octavo/api/docs"
	"github.com/octavo-docs/octavo/api/frame"
)

func describe() ([]byte, error) { return api.OpenAPI("https://docs.example.com") }

// operations returns all operations as pages show them. Tests share the result and must not change it.
var operations = sync.OnceValues(func() ([]docs.Operation, error) { return docs.Operations(api.Table(), describe) })

// files returns the files of all pages, by path. Tests share the result.
var files = sync.OnceValues(docs.Pages(api.Table(), describe).Build)

func must[T any](t *testing.T, get func() (T, error)) T {
	t.Helper()
	value, err := get()
	if err != nil {
		t.Fatal(err)
	}
	return value
}

// TestEveryOperationHasAPage checks each operation's page in HTML and Markdown. The page has an anchor, a request in
// each language, and an answer if the operation answers with JSON. Each tag has one page.
func TestEveryOperationHasAPage(t *testing.T) {
	t.Parallel()
	all, pages := must(t, operations), must(t, files)
	byID := map[string]docs.Operation{}
	for _, o := range all {
		byID[o.ID] = o
	}
	table := api.Table().Operations
	if len(all) != len(table) || len(byID) != len(table) {
		t.Errorf("%d operations have a page, %d are in the table", len(all), len(table))
	}
	for i := range table {
		op := &table[i]
		o, ok := byID[op.ID]
		if !ok {
			t.Errorf("no page has %s: sections.go has no group %q", op.ID, op.Tag)
			continue
		}
		html, twin := string(pages["/docs/"+op.Tag].Plain), string(pages["/docs/"+op.Tag+".md"].Plain)
		route := `data-method="` + op.Method + `" data-path="` + op.Route() + `"`
		for _, want := range []string{`id="` + op.ID + `"`, route} {
			if strings.Count(html, want) != 1 {
				t.Errorf("%s: the page has %d of %s", op.ID, strings.Count(html, want), want)
			}
		}
		if !strings.Contains(twin, "\n## "+op.ID+"\n") {
			t.Errorf("%s: the page as Markdown has no heading", op.ID)
		}
		if len(o.Snippets) != docs.Languages {
			t.Errorf("%s: %d languages, want %d", op.ID, len(o.Snippets), docs.Languages)
		}
		for _, s := range o.Snippets {
			if !strings.Contains(twin, s.Code) {
				t.Errorf("%s: the page as Markdown lacks the request in %s", op.ID, s.Title)
			}
		}
		if o.Example.JSON && o.Answer == "" {
			t.Errorf("%s has no answer", op.ID)
		}
	}
	tags := map[string]int{}
	for _, tag := range docs.Tags() {
		tags[tag]++
		if !slices.ContainsFunc(table, func(op frame.Operation) bool { return op.Tag == tag }) || tags[tag] > 1 {
			t.Errorf("the group %q has no operations, or two pages", tag)
		}
	}
}

// TestExampleRequestsFollowTheDocument checks that the query and the body of each example are valid by the OpenAPI
// document.
func TestExampleRequestsFollowTheDocument(t *testing.T) {
	t.Parallel()
	document, err := openapi3.NewLoader().LoadFromData(must(t, describe))
	if err != nil {
		t.Fatal(err)
	}
	bodies := 0
	table := api.Table().Operations
	for _, o := range must(t, operations) {
		at := slices.IndexFunc(table, func(op frame.Operation) bool { return op.ID == o.ID })
		op := document.Paths.Value(table[at].Path).GetOperation(o.Method)
		query, err := url.ParseQuery(o.Example.Query)
		if err != nil {
			t.Errorf("%s: %v", o.ID, err)
		}
		for name, values := range query {
			p := op.Parameters.GetByInAndName("query", name)
			if p == nil {
				t.Errorf("%s has no parameter %s", o.ID, name)
			} else if err := p.Schema.Value.VisitJSON(asType(values[0], p.Schema.Value)); err != nil {
				t.Errorf("%s: %s=%s: %v", o.ID, name, values[0], err)
			}
		}
		for _, p := range op.Parameters {
			if p.Value.In == "query" && p.Value.Required && !query.Has(p.Value.Name) {
				t.Errorf("%s: the example lacks %s", o.ID, p.Value.Name)
			}
		}
		if (op.RequestBody != nil && op.RequestBody.Value.Required) && o.Example.Body == "" {
			t.Errorf("%s: the example has no body", o.ID)
		}
		if o.Example.Body == "" {
			continue
		}
		bodies++
		content := op.RequestBody.Value.Content.Get(o.Example.Media)
		if content == nil {
			t.Errorf("%s takes no %s", o.ID, o.Example.Media)
			continue
		}
		if err := content.Schema.Value.VisitJSON(bodyOf(t, o), openapi3.VisitAsRequest()); err != nil {
			t.Errorf("%s: %s: %v", o.ID, o.Example.Body, err)
		}
	}
	if bodies < 50 {
		t.Errorf("%d examples have a body", bodies)
	}
}

// asType returns the value of a query parameter: the text, or its JSON value if the schema is not for a string.
func asType(text string, schema *openapi3.Schema) any {
	var value any
	if !schema.Type.Includes("string") && json.Unmarshal([]byte(text), &value) == nil {
		return value
	}
	return text
}

func bodyOf(t *testing.T, o docs.Operation) any {
	t.Helper()
	if o.Example.Media == frame.MediaForm[0] {
		form, err := url.ParseQuery(o.Example.Body)
		if err != nil {
			t.Fatal(err)
		}
		members := map[string]any{}
		for name := range form {
			members[name] = form.Get(name)
		}
		return members
	}
	var value any
	if err := json.Unmarshal([]byte(o.Example.Body), &value); err != nil {
		t.Fatalf("%s: %v", o.ID, err)
	}
	return value
}

// TestSnippetsParse checks that a parser of each language accepts all example requests.
func TestSnippetsParse(t *testing.T) {
	t.Parallel()
	var shell, python []string
	for _, o := range must(t, operations) {
		for _, s := range o.Snippets {
			switch s.ID {
			case "curl":
				shell = append(shell, s.Code)
			case "python":
				python = append(python, s.Code)
			case "go":
				source := "package p\nfunc f() error {\n" + s.Code + "\n}\n"
				if _, err := parser.ParseFile(token.NewFileSet(), "", source, 0); err != nil {
					t.Errorf("%s: %v\n%s", o.ID, err, s.Code)
				}
			case "js":
				result := esbuild.Transform(s.Code, esbuild.TransformOptions{LogLevel: esbuild.LogLevelSilent})
				if len(result.Errors) > 0 {
					t.Errorf("%s: %v\n%s", o.ID, result.Errors, s.Code)
				}
			default:
				t.Fatalf("no parser for %s", s.ID)
			}
		}
	}
	read := func(program string, input []byte, arguments ...string) {
		if _, err := exec.LookPath(program); err != nil {
			t.Errorf("tests need %s", program)
			return
		}
		command := exec.CommandContext(t.Context(), program, arguments...)
		command.Stdin = bytes.NewReader(input)
		if out, err := command.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", program, err, out)
		}
	}
	read("sh", []byte(strings.Join(shell, "\n")), "-n")
	all, err := json.Marshal(python)
	if err != nil {
		t.Fatal(err)
	}
	read("python3", all, "-c", "import ast, json, sys\nfor text in json.load(sys.stdin): ast.parse(text)")
}

// TestMembersHaveMeanings checks that each parameter and each top-level member of a body has a meaning. It also checks
// that no row of meanings.txt is unused.
func TestMembersHaveMeanings(t *testing.T) {
	t.Parallel()
	names := map[string]bool{}
	for _, o := range must(t, operations) {
		for _, m := range slices.Concat(o.Params, o.Body) {
			names[m.Name], names[o.ID+"/"+m.Name] = true, true
			if !m.Deep && (m.Meaning == "" || strings.HasPrefix(m.Meaning, "Default: ")) {
				t.Errorf("%s: %s has no meaning: see meanings.txt", o.ID, m.Name)
			}
		}
	}
	for name := range must(t, docs.Meanings) {
		if !names[name] {
			t.Errorf("meanings.txt has %s, which no operation has", name)
		}
	}
}

var (
	links   = regexp.MustCompile(`(?:href|src)="([^"]+)"`)
	mdLinks = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	anchors = regexp.MustCompile(` id="([^"]+)"`)
)

// TestLinksResolve checks that each link leads to a page and an anchor that exist: on pages, in their Markdown
// versions, and in llms.txt.
func TestLinksResolve(t *testing.T) {
	t.Parallel()
	all := must(t, files)
	ids := map[string][]string{}
	for at, file := range all {
		for _, found := range anchors.FindAllSubmatch(file.Plain, -1) {
			if slices.Contains(ids[at], string(found[1])) {
				t.Errorf("%s has two anchors %s", at, found[1])
			}
			ids[at] = append(ids[at], string(found[1]))
		}
	}
	followed := 0
	for at, file := range all {
		pattern, text := links, string(file.Plain)
		if strings.HasSuffix(at, ".md") || strings.HasSuffix(at, ".txt") {
			pattern, text = mdLinks, regexp.MustCompile("(?s)```.*?```").ReplaceAllString(text, "")
		} else if !strings.HasPrefix(file.Media, "text/html") {
			continue
		}
		for _, found := range pattern.FindAllStringSubmatch(text, -1) {
			to, err := url.Parse(found[1])
			if err != nil || to.IsAbs() || to.Host != "" {
				t.Errorf("%s has a link to another host: %s", at, found[1])
				continue
			}
			followed++
			target := at
			if to.Path != "" {
				target = path.Join(path.Dir(at), to.Path)
			}
			_, exists := all[target]
			anchorless := to.Fragment == "" || strings.HasSuffix(target, ".md")
			if !exists && target != "/v1/openapi.json" || !anchorless && !slices.Contains(ids[target], to.Fragment) {
				t.Errorf("%s links to %s, which is not there", at, found[1])
			}
		}
	}
	if followed < 3000 {
		t.Errorf("%d links", followed)
	}
}

// TestSizes limits the number of bytes that a browser loads for each page, and for the first page with all its files.
func TestSizes(t *testing.T) {
	t.Parallel()
	const most = 60 << 10
	all := must(t, files)
	first, largest, sum := 0, 0, 0
	for at, file := range all {
		size := len(file.Compressed().Brotli)
		sum += len(file.Plain)
		if size > most {
			t.Errorf("%s has %d bytes, want at most %d", at, size, most)
		}
		if strings.HasPrefix(file.Media, "text/html") {
			largest = max(largest, size)
		}
		if at == "/docs" || strings.HasPrefix(at, "/docs/docs.") || strings.HasSuffix(at, ".svg") {
			first += size
		}
	}
	t.Logf("the first page has %d bytes with its files, the largest page %d", first, largest)
	t.Logf("%d files have %d bytes, not compressed", len(all), sum)
	if first > most {
		t.Errorf("the first page has %d bytes with its files, want at most %d", first, most)
	}
}

// TestPagesNeedNothingInline checks that pages work under a policy without unsafe-inline.
func TestPagesNeedNothingInline(t *testing.T) {
	t.Parallel()
	inline := regexp.MustCompile(`(?i)<style|<script[^>]*>[^<]|\sstyle=|\son[a-z]+=|javascript:`)
	for at, file := range must(t, files) {
		if !strings.HasPrefix(file.Media, "text/html") {
			continue
		}
		html := regexp.MustCompile(`(?s)<pre.*?</pre>`).ReplaceAllString(string(file.Plain), "")
		if found := inline.FindString(html); found != "" {
			t.Errorf("%s has %q", at, found)
		}
		if strings.Contains(html, "@docs@") || strings.Contains(html, "<!-- raw HTML omitted") {
			t.Errorf("%s has a link without its way, or HTML that is left out", at)
		}
	}
}

// TestSearchIndex checks that each operation and each page can be found.
func TestSearchIndex(t *testing.T) {
	t.Parallel()
	all := must(t, files)
	var entries []struct{ To, Title, Route, Doc string }
	if err := json.Unmarshal(all["/docs/search.json"].Plain, &entries); err != nil {
		t.Fatal(err)
	}
	named := map[string]bool{}
	for _, entry := range entries {
		page, _, _ := strings.Cut(entry.To, "#")
		if _, ok := all[strings.TrimSuffix("/docs/"+page, "/")]; !ok || entry.Title == "" || entry.Doc == "" {
			t.Errorf("%+v", entry)
		}
		named[entry.Title] = true
	}
	for _, op := range api.Table().Operations {
		if !named[op.ID] {
			t.Errorf("the search does not find %s", op.ID)
		}
	}
}
