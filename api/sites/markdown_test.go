package sites_test

import (
	"html"
	"net/http"
	"strings"
	"testing"

	"github.com/octavo-docs/octavo/api/apitest"
	"github.com/octavo-docs/octavo/schema"
)

// TestMarkdownForReaders: the Markdown of a page for a site's readers begins with the page's title, and its links lead
// to pages of the site. Users get the stored text, so that they can edit it and write it back.
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

// TestFilesInMarkdown: stored Markdown refers to files by their ids. Readers get Markdown with the addresses of the
// files, and users get the stored text.
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

// TestActiveMarkdown: users who may edit a page get its Markdown unchanged. Other callers get it without active HTML,
// and only with links of allowed schemes. SECURITY.md promises this.
func TestActiveMarkdown(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	_, address, frontEnd := publicSite(h)
	admin, space := h.Ours.Tokens[schema.RoleAdmin], "/v1/spaces/"+h.Ours.Space.ID
	written := "[a](javascript:alert) <script>alert(7)</script> <img src=x onerror=alert(6)> " +
		"[b](data:text/html,x) `<script>` <b>c</b>\n\n" +
		"[d](javascript&colon;alert) [e](https://e.example/?f=g&h) [i](//j.example/k) ![l](/\\m.example)\n"
	shown := "[a](#) &lt;script>alert(7)&lt;/script> &lt;img src=x onerror=alert(6)> [b](#) `<script>` " +
		"<b>c</b>\n\n[d](#) [e](https://e.example/?f=g&h) [i](https://j.example/k) ![l](#)\n"
	request := space + "/change-requests/" + h.Want(http.StatusCreated, "POST", space+"/change-requests", admin,
		"{}")["id"].(string)
	h.Want(http.StatusOK, "POST", request+"/content", admin, map[string]any{"changes": []any{
		map[string]any{
			"operation": "insert_page",
			"title":     "Active",
			"slug":      "active",
			"document":  map[string]any{"markdown": written},
		},
	}})
	h.Want(http.StatusOK, "POST", request+"/merge", admin, nil)
	reader := resolved(h, frontEnd, address)["apiToken"].(string)
	for name, c := range map[string]struct{ token, want string }{
		"reader": {reader, "# Active\n\n" + shown}, "read": {h.Ours.Tokens[schema.RoleRead], shown},
		"comment": {h.Ours.Tokens[schema.RoleComment], shown},
		"edit":    {h.Ours.Tokens[schema.RoleEdit], written}, "admin": {admin, written},
	} {
		for _, query := range []string{"", "&format.markdown.refs=stable", "&format.markdown.refs=relative"} {
			if got := h.Want(http.StatusOK, "GET", space+"/content/path/active?format=markdown"+query, c.token,
				nil)["markdown"]; got != c.want {
				t.Errorf("%s%s: %q, want %q", name, query, got, c.want)
			}
		}
	}
	a := h.Do("GET", space+"/content/path/active", reader, nil)
	if told := string(a.Body); !strings.Contains(told, `"url":"https://j.example/k"`) ||
		strings.Contains(told, `"//j.`) ||
		strings.Contains(told, `"url":"/\\`) ||
		strings.Contains(told, `"url":"javascript`) {
		t.Errorf("the document has %s", told)
	}
	body := map[string]any{"body": map[string]any{"markdown": written}}
	comments := space + "/comments"
	made := h.Want(http.StatusOK, "POST", comments, admin, body)
	comment := comments + "/" + made["id"].(string)
	reply := h.Want(http.StatusOK, "POST", comment+"/replies", admin, body)
	for name, answer := range map[string]map[string]any{
		"comment made": made, "comment": h.Want(http.StatusOK, "GET", comment, h.Ours.Tokens[schema.RoleRead], nil),
		"reply made": reply,
		"comments":   h.Want(http.StatusOK, "GET", comments, admin, nil)["items"].([]any)[0].(map[string]any),
		"replies":    h.Want(http.StatusOK, "GET", comment+"/replies", admin, nil)["items"].([]any)[0].(map[string]any),
	} {
		if got := answer["body"].(map[string]any)["markdown"]; got != shown {
			t.Errorf("%s: %q, want %q", name, got, shown)
		}
	}
}
