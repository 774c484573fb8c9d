package store_test

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/storetest"
)

// TestMigrateEndsInvitesOfFormerAdmins runs the migration that deletes old invites. Invites must stay if their author
// is still an admin of the organization or is unknown. A pending invite to a member must be deleted.
func TestMigrateEndsInvitesOfFormerAdmins(t *testing.T) {
	t.Parallel()
	url, ours, theirs := storetest.Tenants(t)
	conn := storetest.Connect(t, url)
	migration, err := os.ReadFile("migrations/00032_visible_words_and_former_admins_invites.sql")
	if err != nil {
		t.Fatal(err)
	}
	exec := func(sql string, args ...any) {
		t.Helper()
		if _, err := conn.Exec(t.Context(), sql, args...); err != nil {
			t.Fatal(err)
		}
	}
	org, admin := ours.Organization.ID, ours.Users[schema.RoleAdmin].ID
	demoted, reader := ours.Users[schema.RoleEdit].ID, ours.Users[schema.RoleRead].ID
	stranger := theirs.Users[schema.RoleAdmin].ID
	exec("insert into users (id, display_name, email) select x, x, x || '@example.com' from unnest($1::text[]) x",
		[]string{"person-1", "person-2", "person-3", "person-4"})
	for id, author := range map[string]any{
		"by an admin": admin, "by nobody": nil, "by a demoted admin": demoted, "by another's admin": stranger,
	} {
		exec("insert into link_invites (id, organization_id, role, created_by) values ($1, $2, 'admin', $3)",
			id, org, author)
	}
	for person, author := range map[string]any{
		"person-1": admin, "person-2": nil, "person-3": demoted, "person-4": stranger, reader: admin,
	} {
		exec(`insert into email_invites (organization_id, user_id, email, role, created_by)
			values ($1, $2, $2 || '@example.com', 'admin', $3)`, org, person, author)
	}
	exec(string(migration))
	for query, want := range map[string][]string{
		"select id from link_invites order by id":            {"by an admin", "by nobody"},
		"select user_id from email_invites order by user_id": {"person-1", "person-2"},
	} {
		if d := cmp.Diff(want, storetest.Collect(t, conn, query)); d != "" {
			t.Errorf("%s: %s", query, d)
		}
	}
}
