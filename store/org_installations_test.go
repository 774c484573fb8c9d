package store

import "testing"

// TestInstallationsOfBefore migrates an installation of before there were tokens: it may do what its integration asks for, and has a
// user in whose name its tokens write.
func TestInstallationsOfBefore(t *testing.T) {
	t.Parallel()
	_, provider, conn := migratedTo(t, 66)
	for _, sql := range []string{
		`insert into organizations (id, title, hostname) values ('o', 'O', 'o')`,
		`insert into integrations (name, organization_id, visibility, target, manifest, script, title, scopes, categories, block_domains, has_blocks,
			has_content_sources) values ('tool', 'o', 'private', 'all', '{}', 'x', 'Tool', '{openapi:read}', '{}', '{}', false, false)`,
		`insert into integration_installations (id, integration, organization_id) values ('n', 'tool', 'o')`,
	} {
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := provider.UpTo(t.Context(), 67); err != nil {
		t.Fatal(err)
	}
	var scopes []string
	var name string
	err := conn.QueryRow(t.Context(), `select n.scopes, u.display_name from integration_installations n join users u on u.id = n.user_id`).Scan(&scopes, &name)
	if err != nil || len(scopes) != 1 || scopes[0] != "openapi:read" || name != "Tool" {
		t.Errorf("%q for %q: %v", scopes, name, err)
	}
}
