package content_test

import (
	"testing"

	"github.com/octavo-docs/octavo/api/apitest"
	"github.com/octavo-docs/octavo/schema"
)

// TestGitImportAnnotates checks that an import which changes the content of a space adds annotations to the space's
// sites.
func TestGitImportAnnotates(t *testing.T) {
	t.Parallel()
	b := newGitBench(t)
	annotations := func() schema.List[schema.Annotation] {
		b.T.Helper()
		return apitest.Ask[schema.List[schema.Annotation]](b.Harness, schema.RoleRead, "GET",
			"/v1/orgs/"+b.Ours.Organization.ID+"/sites/"+b.Ours.Site.ID+"/insights/annotations", nil, 200)
	}
	b.commit(map[string]string{"README.md": "# Home\n\nText.\n", "one.md": "# One\n\nFirst.\n"})
	b.done("import", nil)
	list := annotations()
	title := b.Want(200, "GET", "/v1/spaces/"+b.Ours.Space.ID, b.token, nil)["title"].(string)
	if list.Count != 1 {
		t.Fatalf("%+v", list)
	}
	if a := list.Items[0]; a.Kind != schema.AnnotationImport || a.Text != title+" was imported from Git." ||
		len(a.Pages) != 2 || a.Space != b.Ours.Space.ID || a.CreatedBy == nil ||
		a.CreatedBy.ID != b.Ours.Users[schema.RoleAdmin].ID {
		t.Errorf("%+v", a)
	}
	b.done("import", nil)
	if list := annotations(); list.Count != 1 {
		t.Errorf("an import without changes annotates: %+v", list.Items[0])
	}
	// Both sides have changed, so the import merges them.
	b.change(map[string]any{
		"operation": "insert_page", "title": "Ours", "document": map[string]any{"markdown": "Hello."},
	})
	merges := annotations().Count
	b.commit(map[string]string{"README.md": "# Home\n\nText.\n", "one.md": "# One\n\nSecond.\n"})
	b.done("import", nil)
	list = annotations()
	if list.Count != merges+1 || list.Items[0].Kind != schema.AnnotationImport || list.Items[0].Page == "" {
		t.Errorf("%+v", list)
	}
}
