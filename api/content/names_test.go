package content_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/octavo-docs/octavo/api/apitest"
	"github.com/octavo-docs/octavo/api/jobs/jobstest"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/storetest"
)

// naming is a space with a page that contains references of every kind.
type naming struct {
	*apitest.Harness
	request store.ChangeRequest
	page    string
	rows    []namedRef
	reader  string
}

// namedRef is a reference, with the names that callers see for its target. Members see the open space. Guests see only
// the space of the page.
type namedRef struct {
	ref                          map[string]any
	admin, member, guest, reader string
}

func newNaming(t *testing.T) naming {
	t.Helper()
	n := naming{Harness: apitest.New(t)}
	h := n.Harness
	pageIn := func(space store.Space, title string) string {
		t.Helper()
		made := apitest.Ask[schema.ChangeRequest](
			h, schema.RoleAdmin, "POST", "/v1/spaces/"+space.ID+"/change-requests", `{}`, 201,
		)
		at := "/v1/spaces/" + space.ID + "/change-requests/" + made.ID
		apitest.Ask[schema.ChangeRequest](h, schema.RoleAdmin, "POST", at+"/content",
			`{"changes":[{"operation":"insert_page","title":"`+title+`"}]}`, 200)
		apitest.Ask[schema.MergeResult](h, schema.RoleAdmin, "POST", at+"/merge", nil, 200)
		return apitest.Ask[schema.RevisionPages](
			h, schema.RoleAdmin, "GET", "/v1/spaces/"+space.ID+"/content/pages", nil, 200,
		).Pages[0].ID
	}
	open, closed := h.FreshSpace(h.Ours, "Open space"), h.FreshSpace(h.Ours, "Closed space")
	theirs := h.FreshSpace(h.Theirs, "Their space")
	shelf, cellar := h.Collection(h.Ours, nil), h.Collection(h.Ours, nil)
	openPage, closedPage := pageIn(open, "Open page"), pageIn(closed, "Closed page")
	h.Exec("update collections set title = case id when $1 then 'Shelf' else 'Cellar' end where id in ($1, $2)",
		shelf, cellar)
	h.Exec("update collections set default_level = null where id = $1", cellar)
	h.Exec("update spaces set default_level = null where id = $1", closed.ID)
	guest := h.Ours.Users[schema.RoleGuest].ID
	h.GrantSpace(h.Ours, h.Ours.Space.ID, store.Subjects{Users: []string{guest}}, schema.RoleEdit)

	n.request = h.ChangeRequest(h.Ours)
	h.ChangeContent(schema.RoleEdit, n.request.ID,
		`{"operation":"insert_files","files":[{"name":"manual.pdf","base64":"eA=="},{"name":"notice.md","base64":"eA=="}]}`,
		`{"operation":"insert_page","title":"Own page"}`, `{"operation":"insert_page","title":"References"}`)
	content := apitest.Ask[schema.Revision](h, schema.RoleRead, "GET", h.RequestPath(n.request.ID)+"/content", nil, 200)
	own := content.Pages[0].ID
	n.page = content.Pages[1].ID
	files := map[string]string{}
	for _, file := range content.Files {
		files[file.Name] = file.ID
	}
	ann, stranger := h.Ours.Users[schema.RoleReview], h.Theirs.Users[schema.RoleReview].ID
	all := func(name string) [4]string { return [4]string{name, name, name, name} }
	row := func(names [4]string, kind string, members ...string) {
		ref := map[string]any{"kind": kind}
		for i := 0; i < len(members); i += 2 {
			ref[members[i]] = members[i+1]
		}
		n.rows = append(n.rows, namedRef{ref, names[0], names[1], names[2], names[3]})
	}
	row(all("Own page"), "page", "page", own)
	row(all("page"), "page", "page", schema.NewID())
	row([4]string{"Open page", "Open page", "page", "Open page"}, "page", "page", openPage, "space", open.ID)
	row([4]string{"Closed page", "page", "page", "page"}, "page", "page", closedPage, "space", closed.ID)
	row(all("Own page#x"), "anchor", "page", own, "anchor", "x")
	row([4]string{
		"Closed page#x", "page", "page", "page",
	}, "anchor", "page", closedPage, "space", closed.ID, "anchor", "x")
	row(all(ann.DisplayName), "user", "user", ann.ID)
	row(all("user"), "user", "user", stranger)
	row([4]string{"Shelf", "Shelf", "collection", "collection"}, "collection", "collection", shelf)
	row([4]string{"Cellar", "collection", "collection", "collection"}, "collection", "collection", cellar)
	row([4]string{"Open space", "Open space", "space", "Open space"}, "space", "space", open.ID)
	row([4]string{"Closed space", "space", "space", "space"}, "space", "space", closed.ID)
	row(all("space"), "space", "space", theirs.ID)
	row(all("manual.pdf"), "file", "file", files["manual.pdf"])
	row(all("notice.md"), "reusable-content", "reusableContent", files["notice.md"])
	row(all("petstore"), "openapi", "spec", "petstore")
	row(all("https://a.example/b"), "url", "url", "https://a.example/b")
	h.ChangeContent(schema.RoleEdit, n.request.ID,
		`{"operation":"update_page","page":"`+n.page+`","document":{"document":`+n.document(t)+`}}`)
	for _, shown := range []store.Space{open} {
		if _, err := h.Store.Sites.AddSiteSpace(t.Context(), h.Ours.Site.ID, shown.ID, nil); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := h.Store.Sites.Publish(t.Context(), h.Ours.Site.ID, true); err != nil {
		t.Fatal(err)
	}
	frontEnd := storetest.Token(t, h.Store, store.NewToken{FrontEnd: true})
	n.reader = h.Want(http.StatusOK, "POST", "/v1/urls/published", frontEnd,
		map[string]any{"url": "https://docs.example.com/base/~/sites/" + h.Ours.Site.ID})["apiToken"].(string)
	return n
}

// document returns a document that has each reference of n.rows three times: as a mention in a paragraph, as a block,
// and in a cell of a table.
func (n *naming) document(t *testing.T) string {
	t.Helper()
	yes := true
	heading := schema.Block("heading-1", schema.Text("Wombats"))
	heading.Data, heading.Meta = schema.Data{}, schema.Data{"id": "wombats"}
	nodes := []schema.Node{heading}
	records, users := map[string]any{}, []any{}
	for i, row := range n.rows {
		void := func(object, kind string) schema.Node {
			return schema.Node{Object: object, Type: kind, IsVoid: &yes, Data: schema.Data{"ref": row.ref}}
		}
		mention := void(schema.ObjectInline, "mention")
		nodes = append(nodes, schema.Block("paragraph", schema.Text("wombat "), mention, schema.Text(".")),
			void(schema.ObjectBlock, "content-ref"))
		values := map[string]any{"ref": row.ref}
		if user := row.ref["user"]; user != nil {
			users = append(users, user)
			values["users"] = users
		}
		if file := row.ref["file"]; file != nil {
			values["files"] = []any{file}
		}
		records[fmt.Sprint(i)] = map[string]any{"orderIndex": fmt.Sprintf("%02d", i), "values": values}
	}
	column := func(id, kind string) map[string]any {
		about := map[string]any{"id": id, "type": kind, "title": id}
		if kind == "users" {
			about["multiple"] = true
		}
		return about
	}
	table := schema.Node{Object: schema.ObjectBlock, Type: "table", IsVoid: &yes, Data: schema.Data{
		"view":    map[string]any{"type": "grid", "columns": []any{"ref", "users", "files"}, "hideHeader": false},
		"records": records,
		"definition": map[string]any{
			"ref": column("ref", "content-ref"), "users": column("users", "users"), "files": column("files", "files"),
		},
	}}
	text, err := json.Marshal(schema.NewDocument(append(nodes, table)...))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

var (
	mentions = regexp.MustCompile(`(?m)^wombat <a data-mention href="[^"]*">([^<]*)</a>\.$`)
	blocks   = regexp.MustCompile(`(?m)^\[(.*)\]\(.*\)$`)
	cells    = regexp.MustCompile(`<td><a href="[^"]*">([^<]*)</a></td>`)
	lists    = regexp.MustCompile(`<td>(?:<a href="[^"]*">([^<]*)</a>){2}</td>`)
	ids      = regexp.MustCompile(`[0-9a-z]{26}`)
	targets  = regexp.MustCompile(`(?:href|url)="[^"]*"|\]\([^)]*\)`)
)

// TestNames checks that Markdown and search show the names of references' targets, in every form. A name is shown only
// if the caller may read the target.
func TestNames(t *testing.T) {
	t.Parallel()
	n := newNaming(t)
	kinds := map[string]bool{}
	for _, row := range n.rows {
		kinds[row.ref["kind"].(string)] = true
	}
	for _, kind := range (schema.ContentRef{}).OpenAPISchema()["oneOf"].([]any) {
		properties := kind.(map[string]any)["properties"].(map[string]any)
		kind := properties["kind"].(map[string]any)["enum"].([]any)[0].(string)
		if !kinds[kind] {
			t.Errorf("the table has no reference of the kind %s", kind)
		}
	}
	n.MergeNow(n.request.ID)
	n.RunJobs()
	space := "/v1/spaces/" + n.Ours.Space.ID
	at := space + "/content/page/" + n.page
	stored := func() string {
		document := apitest.Ask[schema.RevisionPage](n.Harness, schema.RoleAdmin, "GET", at, nil, 200).Document
		var refs []string
		eachRef(document.Nodes, func(ref any) { refs = append(refs, fmt.Sprint(ref)) })
		return strings.Join(refs, "\n")
	}
	before := stored()
	for name, c := range map[string]struct {
		token string
		name  func(namedRef) string
	}{
		"admin":  {n.Ours.Tokens[schema.RoleAdmin], func(r namedRef) string { return r.admin }},
		"member": {n.Ours.Tokens[schema.RoleRead], func(r namedRef) string { return r.member }},
		"guest":  {n.Ours.Tokens[schema.RoleGuest], func(r namedRef) string { return r.guest }},
		"reader": {n.reader, func(r namedRef) string { return r.reader }},
	} {
		for _, refs := range []string{"", "&format.markdown.refs=relative", "&format.markdown.refs=stable"} {
			source := n.Want(http.StatusOK, "GET", at+"?format=markdown"+refs, c.token, nil)["markdown"].(string)
			text := source
			if name != "reader" && refs != "&format.markdown.refs=stable" {
				// as in Git, the name of the page is the name of its file
				text = strings.ReplaceAll(text, ">own-page.md<", ">Own page<")
				text = strings.ReplaceAll(text, "[own-page.md]", "[Own page]")
				text = strings.ReplaceAll(text, "own-page.md#x<", "Own page#x<")
				text = strings.ReplaceAll(text, "[own-page.md#x]", "[Own page#x]")
			}
			if id := ids.FindString(targets.ReplaceAllString(text, "")); id != "" {
				t.Errorf("%s%s: shows the id %s:\n%s", name, refs, id, text)
			}
			for form, found := range map[string][][]string{
				"mention": mentions.FindAllStringSubmatch(text, -1), "block": blocks.FindAllStringSubmatch(text, -1),
			} {
				if len(found) != len(n.rows) {
					t.Fatalf("%s%s: %d of the form %s:\n%s", name, refs, len(found), form, text)
				}
				for i, row := range n.rows {
					if got := strings.ReplaceAll(found[i][1], `\`, ""); got != c.name(row) {
						t.Errorf(
							"%s%s: the %s of %v is called %q, want %q", name, refs, form, row.ref, got, c.name(row),
						)
					}
				}
			}
			if got := cells.FindAllStringSubmatch(text, -1); len(got) < len(n.rows) {
				t.Errorf("%s%s: %d cells:\n%s", name, refs, len(got), text)
			}
			if name != "admin" {
				continue
			}
			if got := lists.FindStringSubmatch(text); got == nil || got[1] != "user" {
				t.Errorf("%s: the list of users: %q:\n%s", refs, got, text)
			}
			// A client can write the text back that it has read. The references stay the same, and do not store the
			// names of their targets.
			request := n.ChangeRequest(n.Ours)
			body, _ := json.Marshal(map[string]any{"changes": []any{map[string]any{
				"operation": "update_page", "page": n.page, "document": map[string]any{"markdown": source},
			}}})
			apitest.Ask[schema.ChangeRequest](
				n.Harness, schema.RoleEdit, "POST", n.RequestPath(request.ID)+"/content", string(body), 200,
			)
			n.MergeNow(request.ID)
			if after := stored(); after != before {
				t.Errorf("%s: written back, the references are\n%s\nwant\n%s\nof\n%s", refs, after, before, source)
			}
			request = n.ChangeRequest(n.Ours)
			n.ChangeContent(schema.RoleEdit, request.ID,
				`{"operation":"update_page","page":"`+n.page+`","document":{"document":`+n.document(t)+`}}`)
			n.MergeNow(request.ID)
		}
		n.RunJobs()
		answer := string(n.Do("GET", space+"/search?query=wombat", c.token, nil).Body)
		if id := regexp.MustCompile(`"(?:body|excerpt)":"[^"]*[0-9a-z]{26}`).FindString(answer); id != "" ||
			!strings.Contains(answer, "wombat "+c.name(n.rows[0])) {
			t.Errorf("%s: a search: %s\n%s", name, id, answer)
		}
	}
}

// eachRef calls `visit` for each reference in `nodes`.
func eachRef(nodes []schema.Node, visit func(ref any)) {
	for _, n := range nodes {
		if ref := n.Data["ref"]; ref != nil {
			visit(ref)
		}
		if records, ok := n.Data["records"].(map[string]any); ok {
			for i := range len(records) {
				for _, record := range records {
					if about := record.(map[string]any); about["orderIndex"] == fmt.Sprintf("%02d", i) {
						visit(about["values"])
					}
				}
			}
		}
		eachRef(n.Nodes, visit)
	}
}

// printed is a renderer that records its input.
type printed struct{ text *strings.Builder }

func (p printed) Render(
	_ context.Context, input func(send func(name string, content []byte) error) error, out io.Writer,
) error {
	p.text.Reset()
	if err := input(func(name string, content []byte) error {
		if strings.HasPrefix(name, "pages/") {
			p.text.Write(content)
		}
		return nil
	}); err != nil {
		return err
	}
	_, err := io.WriteString(out, "%PDF-")
	return err
}

// TestNamesInPDFs checks that a PDF contains only names of targets that the caller may read. Callers with the same
// access get the same PDF.
func TestNamesInPDFs(t *testing.T) {
	t.Parallel()
	n := newNaming(t)
	got := printed{&strings.Builder{}}
	shown := regexp.MustCompile(`"t":"([^"]*)"`)
	for name, c := range map[string]struct {
		role schema.Role
		name func(namedRef) string
	}{
		"admin":  {schema.RoleAdmin, func(r namedRef) string { return r.admin }},
		"member": {schema.RoleRead, func(r namedRef) string { return r.member }},
		"guest":  {schema.RoleGuest, func(r namedRef) string { return r.guest }},
	} {
		apitest.Ask[schema.ExportURL](n.Harness, c.role, "GET", n.RequestPath(n.request.ID)+"/pdf", nil, 200)
		jobstest.DrainWith(t, n.Store, got)
		texts := ""
		for _, text := range shown.FindAllStringSubmatch(got.text.String(), -1) {
			texts += text[1] + "\n"
		}
		if id := ids.FindString(texts); id != "" {
			t.Errorf("%s: shows the id %s:\n%s", name, id, texts)
		}
		for _, row := range n.rows {
			// the name is in a mention, in a block and in a cell
			if count := strings.Count(texts, c.name(row)+"\n"); count < 3 {
				t.Errorf("%s: %q is shown %d times:\n%s", name, c.name(row), count, texts)
			}
		}
		if name != "admin" && strings.Contains(texts, "Closed") || name == "guest" && strings.Contains(texts, "Open ") {
			t.Errorf("%s: shows what the caller may not read:\n%s", name, texts)
		}
	}
	got.text.Reset()
	apitest.Ask[schema.ExportURL](n.Harness, schema.RoleEdit, "GET", n.RequestPath(n.request.ID)+"/pdf", nil, 200)
	jobstest.DrainWith(t, n.Store, got)
	if got.text.Len() > 0 {
		t.Error("a member who sees the same gets another PDF")
	}
}
