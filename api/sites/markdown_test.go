package sites_test

import (
	"html"
	"net/http"
	"strings"
	"testing"

	"github.com/octavo-docs/octavo/api/apitest"
	"github.com/octavo-docs/octavo/schema"
)

// TestMarkdownForReaders: what a site's readers get of a page as Markdown begins with its title, and its links can be followed. Users
// get what is stored, to write it back.
func TestMarkdownForReaders(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	_, address, frontEnd := publicSite(h)
	admin, space := h.Ours.Tokens[schema.RoleAdmin], "/v1/spaces/"+h.Ours.Space.ID
	insert := func(pages ...map[string]any) {
		t.Helper()
		changes := make([]any, len(pages))
		for i, page := range pages {
			page["operation"] = "insert_page"
			changes[i] = page
		}
		request := space + "/change-requests/" + h.Want(http.StatusCreated, "POST", space+"/change-requests", admin, "{}")["id"].(string)
		h.Want(http.StatusOK, "POST", request+"/content", admin, map[string]any{"changes": changes})
		h.Want(http.StatusOK, "POST", request+"/merge", admin, nil)
	}
	text := func(markdown string) map[string]any { return map[string]any{"markdown": markdown} }
	insert(map[string]any{"title": "Install", "slug": "install", "document": text("# On Linux\n\nRun it.\n")}, map[string]any{"title": "Empty", "slug": "empty"})
	install := h.Want(http.StatusOK, "GET", space+"/content/path/install", admin, nil)["id"].(string)
	linked := "See [how](ref:page/" + install + ") and [where](install.md#on-linux).\n"
	insert(
		map[string]any{"title": "*Start* [here]", "slug": "start", "document": text(linked)},
		map[string]any{"title": "Again", "slug": "again", "document": text("Again\n=====\n\nText.\n")},
	)
	reader := resolved(h, frontEnd, address)["apiToken"].(string)
	for path, want := range map[string]struct{ user, reader string }{
		"start?format=markdown": {linked, "# \\*Start\\* \\[here\\]\n\nSee [how](install.md) and [where](install.md#on-linux).\n"},
		"start?format=markdown&format.markdown.refs=stable": {
			"See [how](/pages/" + install + ") and [where](/pages/" + install + "#on-linux).\n",
			"# \\*Start\\* \\[here\\]\n\nSee [how](/pages/" + install + ") and [where](/pages/" + install + "#on-linux).\n",
		},
		"install?format=markdown": {"# On Linux\n\nRun it.\n", "# On Linux\n\nRun it.\n"},
		"again?format=markdown":   {"Again\n=====\n\nText.\n", "Again\n=====\n\nText.\n"},
		"empty?format=markdown":   {"", "# Empty\n"},
	} {
		for token, want := range map[string]string{admin: want.user, reader: want.reader} {
			at := space + "/content/path/" + path
			if got := h.Want(http.StatusOK, "GET", at, token, nil)["markdown"]; got != want {
				t.Errorf("%s: %q, want %q", at, got, want)
			}
		}
	}
}

// TestFilesInMarkdown: Markdown alone does not lead to files, so readers get their addresses in it, and users what was written.
func TestFilesInMarkdown(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	_, address, frontEnd := publicSite(h)
	admin, space := h.Ours.Tokens[schema.RoleAdmin], "/v1/spaces/"+h.Ours.Space.ID
	change := func(change map[string]any) {
		request := space + "/change-requests/" + h.Want(http.StatusCreated, "POST", space+"/change-requests", admin, "{}")["id"].(string)
		h.Want(http.StatusOK, "POST", request+"/content", admin, map[string]any{"changes": []any{change}})
		h.Want(http.StatusOK, "POST", request+"/merge", admin, nil)
	}
	change(map[string]any{"operation": "insert_files", "files": []any{map[string]any{"name": "a.txt", "base64": "aGVsbG8="}}})
	file := h.Want(http.StatusOK, "GET", space+"/content", admin, nil)["files"].([]any)[0].(map[string]any)["id"].(string)
	const forms = "[a](%s)\n\n![b](%s)\n\nAn <img src=\"%s\" alt=\"c\" data-size=\"line\"> image.\n\n{%% file src=\"%s\" %%}\n"
	written := strings.ReplaceAll(strings.ReplaceAll(forms, "%s", "ref:file/"+file), "%%", "%")
	change(map[string]any{"operation": "insert_page", "title": "Files", "slug": "files", "document": map[string]any{"markdown": written}})
	page := space + "/content/path/files?format=markdown&format.markdown.refs="
	reader := resolved(h, frontEnd, address)["apiToken"].(string)
	for _, refs := range []string{"stable", "relative"} {
		if got := h.Want(http.StatusOK, "GET", page+refs, admin, nil)["markdown"]; got != written {
			t.Errorf("a user has %q, wrote %q", got, written)
		}
		got := h.Want(http.StatusOK, "GET", page+refs, reader, nil)["markdown"].(string)
		_, at, _ := strings.Cut(got, "[a](")
		at, _, _ = strings.Cut(at, ")")
		if n := strings.Count(html.UnescapeString(got), at); n != 4 || strings.Contains(got, "ref:file") {
			t.Errorf("%d times %s in %s", n, at, got)
		}
		_, to, _ := strings.Cut(at, "/v1/")
		if a := h.Do("GET", "/v1/"+to, "", nil); a.Status != http.StatusOK || string(a.Body) != "hello" {
			t.Errorf("%s: %d %s", at, a.Status, a.Body)
		}
	}
}
