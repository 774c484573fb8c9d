package content_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/storetest"
)

// TestGitTags imports a repository with a file that defines tags, and a file that defines variables. A reader gets the
// variables. The reader also gets the tags, with the pages and updates that have them. The two files stay hidden.
func TestGitTags(t *testing.T) {
	t.Parallel()
	b := newGitBench(t)
	b.commit(map[string]string{
		"README.md": "---\nlayout:\n  tags:\n    visible: false\ntags:\n  - new\n  - tag: fixes\n    primary: true\n" +
			"---\n\n# Home\n\n" +
			"{% updates format=\"full\" %}\n{% update date=\"2026-08-06\" tags=\"new,fixes\" %}\n## One\n\nText.\n" +
			"{% endupdate %}\n{% endupdates %}\n",
		"other.md":           "# Other\n",
		".gitbook/tags.yaml": "- tag: new\n  label: New releases\n  icon: rocket\n  color: $primary\n- tag: fixes\n",
		".gitbook/vars.yaml": "version: 2\n",
	})
	b.done("import", nil)
	if _, err := b.Store.Sites.Publish(t.Context(), b.Ours.Site.ID, true); err != nil {
		t.Fatal(err)
	}
	frontEnd := storetest.Token(t, b.Store, store.NewToken{FrontEnd: true})
	reader := b.Want(http.StatusOK, "POST", "/v1/urls/published", frontEnd,
		map[string]any{"url": "https://docs.example.com/base/~/sites/" + b.Ours.Site.ID})["apiToken"].(string)
	space := "/v1/spaces/" + b.Ours.Space.ID
	for name, token := range map[string]string{"a reader": reader, "a member": b.Ours.Tokens[schema.RoleAdmin]} {
		revision := space + "/revisions/" + b.Want(http.StatusOK, "GET", space, token, nil)["revision"].(string)
		got := b.Want(http.StatusOK, "GET", revision, token, nil)
		want := []any{
			map[string]any{"slug": "new", "label": "New releases", "icon": "rocket", "color": "$primary"},
			map[string]any{"slug": "fixes", "label": "fixes", "color": "default"},
		}
		if diff := cmp.Diff(want, got["tags"]); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if diff := cmp.Diff(map[string]any{"version": 2.0}, got["variables"]); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		files := 2
		if token == reader {
			files = 0
		}
		if list := got["files"].([]any); len(list) != files {
			t.Errorf("%s gets %d files, want %d", name, len(list), files)
		}
		pages := got["pages"].([]any)
		home, other := pages[0].(map[string]any), pages[1].(map[string]any)
		ref := func(tag string) map[string]any { return map[string]any{"kind": "tag", "tag": tag} }
		tags := []any{map[string]any{"tag": ref("new")}, map[string]any{"tag": ref("fixes"), "primary": true}}
		if diff := cmp.Diff([]any{tags, []any{}}, []any{home["tags"], other["tags"]}); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if home["layout"].(map[string]any)["tags"] != false || other["layout"].(map[string]any)["tags"] != true {
			t.Errorf("%s: %v %v", name, home["layout"], other["layout"])
		}
		path := revision + "/page/" + home["id"].(string) + "/document?evaluated=deterministic-only"
		text := string(b.Do("GET", path, token, nil).Body)
		if !strings.Contains(text, `"tags":[{"kind":"tag","tag":"new"},{"kind":"tag","tag":"fixes"}]`) {
			t.Errorf("%s: the update has no tags: %s", name, text)
		}
	}
}
