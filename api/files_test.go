package api_test

import (
	"encoding/base64"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/api/apitest"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content/contenttest"
	"github.com/octavo-docs/octavo/schema/content/markdown"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/storetest"
)

// fileBench writes pages that refer to files. The pages are in the space of a published site.
type fileBench struct {
	*apitest.Harness
	// ids are the ids of the files, by name.
	ids map[string]string
}

const claimed = "visitor.claims.staff == true"

// upload adds files with these names to a change request. A file without an entry in contents gets arbitrary bytes.
func (b *fileBench) upload(request string, contents map[string]string, names ...string) {
	b.T.Helper()
	for some := range slices.Chunk(names, 20) {
		var files []string
		for _, name := range some {
			content, given := contents[name]
			if !given {
				content = "\x89PNG " + name
			}
			encoded := base64.StdEncoding.EncodeToString([]byte(content))
			files = append(files, fmt.Sprintf(`{"name":%q,"base64":%q}`, name, encoded))
		}
		b.ChangeContent(
			schema.RoleAdmin,
			request,
			`{"operation":"insert_files","files":[`+strings.Join(files, ",")+`]}`,
		)
	}
	r := apitest.Ask[schema.Revision](b.Harness, schema.RoleAdmin, "GET", b.RequestPath(request)+"/content", nil, 200)
	for _, file := range r.Files {
		b.ids[file.Name] = file.ID
	}
}

// page adds a page to a change request. `more` has further members of the insert_page change.
func (b *fileBench) page(request, ref, more string) {
	b.T.Helper()
	change := fmt.Sprintf(`{"operation":"insert_page","ref":%q,"title":%q,%s}`, ref, ref, more)
	b.ChangeContent(schema.RoleAdmin, request, change)
}

// fill replaces @name by the reference to the file, for each file.
func (b *fileBench) fill(text string) string {
	for _, name := range slices.Backward(slices.Sorted(maps.Keys(b.ids))) {
		text = strings.ReplaceAll(text, "@"+name, "ref:file/"+b.ids[name])
	}
	return text
}

// text returns the document member of a change, with this Markdown after fill.
func (b *fileBench) text(text string) string {
	b.T.Helper()
	quoted, err := json.Marshal(b.fill(text))
	if err != nil {
		b.T.Fatal(err)
	}
	return `"document":{"markdown":` + string(quoted) + `}`
}

// everyKind returns a document that has a file in every place where a document can have a file. It calls `name` for the
// name of each file.
func everyKind(t *testing.T, name func() string) schema.Document {
	t.Helper()
	d := contenttest.EveryKind(t)
	d = markdown.MapRefs(d, func(ref map[string]any) map[string]any {
		if ref["kind"] == "openapi" || ref["kind"] == "reusable-content" {
			return nil
		}
		return map[string]any{"kind": "file", "file": name()}
	})
	cells(d.Nodes, name)
	return d
}

// cells puts files into the cells of the table columns that have the type files.
func cells(nodes []schema.Node, name func() string) {
	for i := range nodes {
		cells(nodes[i].Nodes, name)
		cells(nodes[i].Fragments, name)
		columns, _ := nodes[i].Data["definition"].(map[string]any)
		records, _ := nodes[i].Data["records"].(map[string]any)
		for column, about := range columns {
			if about.(map[string]any)["type"] != "files" {
				continue
			}
			for _, record := range records {
				record.(map[string]any)["values"].(map[string]any)[column] = []any{name(), name()}
			}
		}
	}
}

// TestReadersGetTheFilesOfTheirPages calls every operation that readers may call, for every page and revision and for
// the draft of a preview. An answer may have the name or id of a file only if a page that the reader may see refers to
// the file. A list of a revision's files has every such file of the revision. Users get all files.
func TestReadersGetTheFilesOfTheirPages(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	b := &fileBench{Harness: h, ids: map[string]string{}}
	claims := published(h, h.Ours)

	// everybody has the files that every reader may see. `staff` has the files that only readers with the claim may
	// see. No reader may see a file that is in neither list.
	var everybody, staff []string
	kinds := 0
	everyKind(t, func() string { kinds++; return "" })
	for i := range kinds {
		everybody = append(everybody, fmt.Sprintf("kind-%d.png", i))
	}
	if kinds < 10 {
		t.Fatalf("the document of every kind has %d files", kinds)
	}
	everybody = append(everybody, "shown.png", "unlisted.png", "target.pdf", "included.png", "twice.png", "header.pdf",
		"footer.pdf", "elsewhere.png")
	staff = append(staff, "conditional.png", "below.png", "block.png", "nested.png", "expandable.png",
		"included-block.png", "included-page.png", "included-in-block.png", "staff-target.pdf", "unended.png",
		"staff-header.pdf", "staff-elsewhere.png")
	nobody := []string{"unnamed.png", "named-before.png", "impossible.png", "unread-condition.png"}
	raw := []string{"always.md", "staff.md", "block.md", "ending.md"}

	request := h.ChangeRequest(h.Ours).ID
	b.upload(request, nil, slices.Concat(everybody, staff, nobody)...)
	condition := func(in string) string { return "{% if " + claimed + " %}\n" + in + "\n{% endif %}\n" }
	contents := map[string]string{
		"always.md": "Always ![](@included.png)\n\n" + condition("Some ![](@included-block.png)"),
		"staff.md":  "![](@included-page.png)\n", "block.md": "![](@included-in-block.png)\n",
		// This tag does not end a block of the page that includes the file.
		"ending.md": "{% endif %}\n",
	}
	for name, text := range contents {
		contents[name] = b.fill(text)
	}
	b.upload(request, contents, raw...)
	include := func(name string) string { return "{% include \"ref:reusable-content/" + b.ids[name] + "\" %}\n" }
	next := 0
	every, err := json.Marshal(everyKind(t, func() string { next++; return b.ids[everybody[next-1]] }))
	if err != nil {
		t.Fatal(err)
	}
	b.page(request, "every", `"document":{"document":`+string(every)+`}`)
	b.page(request, "shown", b.text("![](@shown.png) ![](@twice.png)\n\n"+
		condition("![](@block.png)\n\n"+condition("[a](@nested.png)"))+"\n"+
		condition(include("ending.md")+"\n![](@nested.png)\n")+"\n"+
		"<details>\n\n<summary>More</summary>\n\n"+condition("![](@expandable.png)")+"\n</details>\n\n"+
		include("always.md")+"\n"+
		condition(include("block.md"))+"\n{% if false %}\n![](@impossible.png)\n{% endif %}\n\n"+
		"{% if ((( %}\n![](@unread-condition.png)\n{% endif %}\n\n{% if "+claimed+" %}\n\n![](@unended.png)\n"))
	b.page(request, "unlisted", `"hidden":true,`+b.text("![](@unlisted.png)"))
	b.page(request, "conditional", `"condition":"`+claimed+`",`+
		b.text("![](@conditional.png) ![](@twice.png)\n\n"+include("staff.md")))
	b.page(request, "target", `"type":"link","target":{"kind":"file","file":"`+b.ids["target.pdf"]+`"}`)
	b.page(request, "staff-target", `"condition":"`+claimed+
		`","type":"link","target":{"kind":"file","file":"`+b.ids["staff-target.pdf"]+`"}`)
	b.page(request, "before", b.text("![](@named-before.png)"))
	draft := apitest.Ask[schema.Revision](h, schema.RoleAdmin, "GET", h.RequestPath(request)+"/content", nil, 200)
	titled := func(r schema.Revision, title string) string {
		return r.Pages[slices.IndexFunc(r.Pages, func(p schema.RevisionPage) bool { return p.Title == title })].ID
	}
	conditional, before := titled(draft, "conditional"), titled(draft, "before")
	b.page(request, "below", `"into":"`+conditional+`",`+b.text("![](@below.png)"))
	empty := func(page string) string {
		return `{"operation":"update_page","page":"` + page + `",` + b.text("Nothing now.") + `}`
	}
	b.ChangeContent(schema.RoleAdmin, request, empty(before))
	b.MergeNow(request)

	// Links of the site's header and footer lead to files.
	link := func(name, more string) string {
		return `{"title":"File","links":[],"to":{"kind":"file","file":"` + b.ids[name] + `"}` + more + `}`
	}
	site := "/v1/orgs/" + h.Ours.Organization.ID + "/sites/" + h.Ours.Site.ID
	admin := h.Ours.Tokens[schema.RoleAdmin]
	h.Want(http.StatusOK, "PUT", site+"/customization", admin, `{"favicon":{},"header":{"links":[`+
		link("header.pdf", "")+`,`+link("staff-header.pdf", `,"condition":"`+claimed+`"`)+
		`]},"footer":{"groups":[{"title":"Files","links":[`+strings.Replace(link("footer.pdf", ""), `"links":[],`,
		"", 1)+`]}]}}`)

	// Two other spaces refer to files of this space. The first is a space of the site, the second is not.
	for _, onSite := range []bool{true, false} {
		other := h.FreshSpace(h.Ours, "Other").ID
		here := "?space=" + h.Ours.Space.ID
		text := "![](@elsewhere.png" + here + ")\n\n" + condition("![](@staff-elsewhere.png"+here+")")
		if onSite {
			h.Want(http.StatusCreated, "POST", site+"/site-spaces", admin, map[string]any{"spaceId": other})
		} else {
			text = "![](@unnamed.png" + here + ")"
		}
		path := "/v1/spaces/" + other + "/change-requests"
		path += "/" + h.Want(http.StatusCreated, "POST", path, admin, `{}`)["id"].(string)
		change := `{"operation":"insert_page","title":"Other",` + b.text(text) + `}`
		h.Want(http.StatusOK, "POST", path+"/content", admin, `{"changes":[`+change+`]}`)
		h.Want(http.StatusOK, "POST", path+"/merge", admin, nil)
	}

	// A page refers to a file. In the next revision, the page does not refer to this file.
	request = h.ChangeRequest(h.Ours).ID
	b.upload(request, nil, "once.png")
	b.page(request, "once", b.text("![](@once.png)"))
	b.MergeNow(request)
	space := "/v1/spaces/" + h.Ours.Space.ID
	named := apitest.Ask[schema.Revision](h, schema.RoleAdmin, "GET", space+"/content", nil, 200)
	request = h.ChangeRequest(h.Ours).ID
	b.ChangeContent(schema.RoleAdmin, request, empty(titled(named, "once")))
	b.MergeNow(request)

	// A change request has files that the main content does not have.
	request = h.ChangeRequest(h.Ours).ID
	b.upload(request, nil, "draft.png", "draft-staff.png", "draft-unnamed.png")
	b.page(request, "draft", b.text("![](@draft.png)\n\n"+condition("![](@draft-staff.png)")))
	draft = apitest.Ask[schema.Revision](h, schema.RoleAdmin, "GET", h.RequestPath(request)+"/content", nil, 200)
	head := apitest.Ask[schema.Revision](h, schema.RoleAdmin, "GET", space+"/content", nil, 200)

	// If a file is in this map, readers may see it only in the revisions or the change request with these ids.
	only := map[string][]string{
		"once.png": {named.ID}, "draft.png": {draft.ID, request}, "draft-staff.png": {draft.ID, request},
	}
	everybody, staff = append(everybody, "once.png", "draft.png"), append(staff, "draft-staff.png")
	values := map[string][]string{
		"organizationId": {h.Ours.Organization.ID}, "siteId": {h.Ours.Site.ID}, "spaceId": {h.Ours.Space.ID},
		"revisionId": {named.ID, head.ID, draft.ID}, "changeRequestId": {request},
	}
	var walk func(pages []schema.RevisionPage)
	walk = func(pages []schema.RevisionPage) {
		for _, p := range pages {
			values["pageId"] = append(values["pageId"], p.ID)
			if p.Path != "" {
				values["pagePath"] = append(values["pagePath"], p.Path)
			}
			walk(p.Pages)
		}
	}
	walk(draft.Pages)

	preview := claims
	preview.ChangeRequest, preview.User = request, h.Ours.Users[schema.RoleAdmin].ID
	drafts := claims
	drafts.User = h.Ours.Users[schema.RoleAdmin].ID
	vip := func(c access.SiteClaims) access.SiteClaims {
		c.Claims = map[string]any{"staff": true}
		return c
	}
	frontEnd := storetest.Token(t, h.Store, store.NewToken{FrontEnd: true, Name: "renderer"})
	anonymous := h.Want(http.StatusOK, "POST", "/v1/urls/published", frontEnd,
		map[string]any{"url": "https://docs.example.com/base/~/sites/" + h.Ours.Site.ID})["apiToken"].(string)
	readers := map[string]struct {
		token string
		staff bool
	}{
		"anonymous": {anonymous, false}, "no claim": {siteToken(h, claims), false},
		"the claim": {siteToken(h, vip(claims)), true},
		"a preview": {siteToken(h, preview), false}, "a preview, the claim": {siteToken(h, vip(preview)), true},
		"drafts": {siteToken(h, drafts), false},
	}

	listed := map[string]bool{}
	all := apitest.EachOperation(t, h, func(t *testing.T, h *apitest.Harness, op *frame.Operation) {
		if op.Scope.Public || !op.Scope.Readers {
			return
		}
		paths, body := []string{}, any(nil)
		if expanded, ok := expand(op.Route(), values); ok {
			paths = expanded
		}
		if op.Scope.Object != access.OnChangeRequest {
			var path string
			path, body = h.Example(op, h.Ours)
			paths = append(paths, path)
		}
		for _, path := range paths {
			for _, query := range []string{
				"limit=1000&format=markdown",
				"limit=1000&format=document&evaluated=deterministic-only&dereferenced=reusable-contents",
			} {
				asked := path + "?" + query
				if strings.Contains(path, "?") {
					asked = path + "&" + query
				}
				users := h.Do(op.Method, asked, admin, body)
				for name, reader := range readers {
					a := h.Do(op.Method, asked, reader.token, body)
					if a.Status >= 500 {
						t.Errorf("%s: %s: %d %s", name, asked, a.Status, a.Body)
					}
					lists := a.Status == http.StatusOK && strings.Contains(string(users.Body), `"downloadURL"`)
					if lists {
						listed[op.ID] = true
					}
					for file, id := range b.ids {
						shown := slices.Contains(everybody, file) || reader.staff && slices.Contains(staff, file)
						if where := only[file]; where != nil {
							in := func(part string) bool { return strings.Contains(path, part) }
							shown = shown && slices.ContainsFunc(where, in)
						}
						got := strings.Contains(string(a.Body), id) || strings.Contains(string(a.Body), file)
						if file == "staff-header.pdf" && strings.Contains(path, h.Ours.Site.ID) {
							// Front ends get all links of a header, with their conditions.
							got = strings.Contains(string(a.Body), file)
						}
						has := strings.Contains(string(users.Body), id)
						if got && !shown || lists && has && shown && !got {
							t.Errorf("%s: %s: the answer has %s: %t, want %t", name, asked, file, got, shown)
						}
					}
				}
			}
		}
		if len(paths) == 0 {
			t.Errorf("the test has no values for %s", op.Path)
		}
	})
	want := []string{
		"getChangeRequestChanges", "getCurrentRevision", "getRevisionById", "getRevisionOfChangeRequestById",
		"getRevisionSemanticChanges",
	}
	if got := slices.Sorted(maps.Keys(listed)); all && !slices.Equal(got, want) {
		t.Errorf("%q list files, want %q", got, want)
	}
}

// expand fills the parameters of a path with every combination of values. `ok` is false if a parameter has no value.
func expand(path string, values map[string][]string) (paths []string, ok bool) {
	found := frame.PathParam.FindStringSubmatch(path)
	if found == nil {
		return []string{path}, true
	}
	for _, value := range values[found[1]] {
		more, ok := expand(strings.Replace(path, found[0], value, 1), values)
		if !ok {
			return nil, false
		}
		paths = append(paths, more...)
	}
	return paths, len(paths) > 0
}
