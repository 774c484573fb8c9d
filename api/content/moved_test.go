package content_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/octavo-docs/octavo/api/apitest"
	"github.com/octavo-docs/octavo/schema"
)

// TestMovedPages checks that a former path of a page leads to the page, until another page has this path.
func TestMovedPages(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	space := "/v1/spaces/" + h.Ours.Space.ID
	change := func(changes ...string) (revision string) {
		t.Helper()
		request := h.ChangeRequest(h.Ours)
		h.ChangeContent(schema.RoleEdit, request.ID, changes...)
		return h.MergeNow(request.ID).Revision
	}
	leads := func(at, path, id, now string) {
		t.Helper()
		a := h.Do("GET", at+"/path/"+path, h.Ours.Tokens[schema.RoleRead], nil)
		if id == "" {
			h.WantError(a, http.StatusNotFound)
			return
		}
		page := apitest.Ask[schema.RevisionPage](h, schema.RoleRead, "GET", at+"/path/"+path, nil, http.StatusOK)
		if page.ID != id || page.Path != now {
			t.Errorf("%s leads to %s at %q, want %s at %q", path, page.ID, page.Path, id, now)
		}
	}
	current := space + "/content"
	first := change(
		`{"operation":"insert_page","type":"group","title":"Guides","ref":"g"}`,
		`{"operation":"insert_page","into":"g","title":"Install"}`,
		`{"operation":"insert_page","title":"Start"}`,
		`{"operation":"insert_page","title":"Help"}`)
	tree := apitest.Ask[schema.RevisionPages](h, schema.RoleRead, "GET", space+"/revisions/"+first+"/pages", nil, 200).Pages
	guides, install, start, help := tree[0].ID, tree[0].Pages[0].ID, tree[1].ID, tree[2].ID
	set := func(page, slug string) string {
		return fmt.Sprintf(`{"operation":"update_page","page":%q,"slug":%q}`, page, slug)
	}

	// The first change renames a page, and the second change renames the group above the page.
	change(set(install, "setup"))
	leads(current, "guides/install", install, "guides/setup")
	second := change(set(guides, "manuals"))
	leads(current, "guides/install", install, "manuals/setup")
	leads(current, "guides%2Fsetup", install, "manuals/setup")
	leads(current, "/guides/", guides, "manuals")
	// The page is moved out of the group, which is then deleted.
	change(`{"operation":"update_page","page":"`+install+`","into":null}`, `{"operation":"delete_page","page":"`+guides+`"}`)
	for _, path := range []string{"guides/install", "guides/setup", "manuals/setup", "setup"} {
		leads(current, path, install, "setup")
	}
	for _, path := range []string{"guides", "manuals", "guides/start", "nothing", "setup/install", "install"} {
		leads(current, path, "", "")
	}

	// Links that were written before lead to the page after it was moved.
	change(`{"operation":"update_page","page":"` + help + `","document":{"markdown":"[a](guides/install.md#x) [b](manuals/setup.md) [c](guides/none.md)"}}`)
	stable := fmt.Sprintf("[a](/pages/%s#x) [b](/pages/%s) [c](guides/none.md)", install, install)
	if page := apitest.Ask[schema.RevisionPage](h, schema.RoleRead, "GET", current+"/page/"+help+"?format=markdown&format.markdown.refs=stable", nil, 200); strings.TrimSpace(*page.Markdown) != stable {
		t.Errorf("%s, want %s", *page.Markdown, stable)
	}

	// In each revision, former paths are the paths before this revision.
	leads(space+"/revisions/"+first, "guides/setup", "", "")
	leads(space+"/revisions/"+first, "guides/install", install, "guides/install")
	leads(space+"/revisions/"+second, "guides/install", install, "manuals/setup")
	leads(space+"/revisions/"+second, "setup", "", "")

	// A path leads to the page that has this path now. If no page has it, it leads to the existing page that had it
	// last.
	change(set(start, "begin"))
	change(set(help, "start"))
	leads(current, "start", help, "start")
	change(set(help, "aid"))
	leads(current, "start", help, "aid")
	change(`{"operation":"delete_page","page":"` + help + `"}`)
	leads(current, "start", start, "begin")
	change(set(start, "start"))
	leads(current, "start", start, "start")
	leads(current, "begin", start, "start")

	// The former paths of a change request are valid only in this request until it is merged.
	draft := h.ChangeRequest(h.Ours)
	h.ChangeContent(schema.RoleEdit, draft.ID, set(start, "first"), `{"operation":"insert_page","title":"Begin"}`)
	theirs := h.RequestPath(draft.ID) + "/content"
	leads(theirs, "start", start, "first")
	leads(theirs, "guides/install", install, "setup")
	if page := apitest.Ask[schema.RevisionPage](h, schema.RoleRead, "GET", theirs+"/path/begin", nil, http.StatusOK); page.ID == start {
		t.Error("the new page does not win")
	}
	leads(current, "first", "", "")
	leads(current, "begin", start, "start")

	// Former paths still lead to the page after many edits.
	edited := h.ChangeRequest(h.Ours)
	for i := range 5 {
		h.ChangeContent(schema.RoleEdit, edited.ID, fmt.Sprintf(`{"operation":"update_page","page":%q,"title":"Title %d"}`, install, i))
	}
	h.MergeNow(edited.ID)
	leads(current, "manuals/setup", install, "setup")
	deep := ""
	for range 40 {
		deep += "/start"
	}
	leads(current, deep, "", "")
}
