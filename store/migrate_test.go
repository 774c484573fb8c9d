package store_test

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/storetest"
)

// TestAccessFunctionsAreCurrent changes a function behind the store's back. The next start restores its own text, and the
// start after that writes nothing. An older node, which knows fewer migrations than the database has, leaves the text alone.
func TestAccessFunctionsAreCurrent(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	conn := connect(t, url)
	query := func(sql string) string {
		t.Helper()
		var text string
		if err := conn.QueryRow(t.Context(), sql).Scan(&text); err != nil {
			t.Fatal(err)
		}
		return text
	}
	migrate := func() {
		t.Helper()
		st, err := store.New(store.Config{URL: url})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := st.Migrate(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	exec := func(sql string) {
		t.Helper()
		if _, err := conn.Exec(t.Context(), sql, pgx.QueryExecModeSimpleProtocol); err != nil {
			t.Fatal(err)
		}
	}
	const version = "select xmin::text || ' ' || prosrc from pg_proc where proname = 'grants_of'"
	theirs := `create or replace function grants_of(of_user text, of_organization text) returns setof grants language sql stable as $$
		select g.* from grants g where false $$; comment on table content_access is 'another text'`

	before := query(version)
	migrate()
	if after := query(version); after != before {
		t.Errorf("a start without changes wrote the function again: %s", after)
	}
	exec(theirs)
	migrate()
	if after := query(version); strings.Contains(after, "where false") {
		t.Errorf("the text of another version was not replaced: %s", after)
	}
	exec(theirs)
	exec("insert into goose_db_version (version_id, is_applied) values (99999, true)")
	migrate()
	if after := query(version); !strings.Contains(after, "where false") {
		t.Errorf("an older node replaced the newer text: %s", after)
	}
}

// TestMigrationsGoBack takes back what mails, logins, webhooks and the audit log added to a database that has all of them. What was
// there before stays and can be written, and the way up again brings everything back to work.
func TestMigrationsGoBack(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	st, conn := storetest.Open(t, url), connect(t, url)
	tenant, w := hooked(t, st)
	user, organization := tenant.Users[schema.RoleAdmin].ID, tenant.Organization.ID
	exec := func(sql string, args ...any) {
		t.Helper()
		if _, err := conn.Exec(t.Context(), sql, args...); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	fill := func() {
		t.Helper()
		exec("insert into saml_providers (id, organization_id, label) values ('p', $1, 'P') on conflict do nothing", organization)
		exec("insert into saml_identities (provider_id, name_id, organization_id, user_id) values ('p', 'n', $1, $2)", organization, user)
		exec("insert into saml_answers (provider_id, request_id, expires_at) values ('p', 'r', now())")
		exec(`insert into sessions (id, hash, opened, provider_id, organization_id, user_id, expires_at) values ('s', '\x00', true, 'p', $1, $2, now())`, organization, user)
		exec("insert into mail_counts (subject, day, mails) values ($1, now(), 1)", organization)
		exec("insert into email_invites (organization_id, user_id, email, mail_state, expires_at) values ($1, $2, 'x@example.com', 'sent', now()) on conflict do nothing",
			organization, tenant.Users[schema.RoleGuest].ID)
		commentOn(t, st, tenant)
	}
	count := func(sql string) (n int) {
		t.Helper()
		if err := conn.QueryRow(t.Context(), sql).Scan(&n); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
		return n
	}
	const (
		theirs = `select count(*) from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r' and relname in
			('audit_log', 'mail_counts', 'saml_identities', 'saml_answers', 'sessions', 'webhooks', 'webhook_events', 'webhook_deliveries')`
		triggers = "select count(*) from pg_trigger where tgname like 'audit\\_%' or tgname like 'webhooks\\_%'"
		schemas  = `select count(*) from information_schema.columns where table_schema = 'public'`
	)
	fill()
	before := [3]int{count(theirs), count(triggers), count(schemas)}
	if before[0] != 8 || before[1] < 100 || len(heard(t, st, w)) != 1 {
		t.Fatal(before)
	}
	if err := store.MigrateDown(t.Context(), st, 69); err != nil {
		t.Fatal(err)
	}
	if left := [2]int{count(theirs), count(triggers)}; left != [2]int{} {
		t.Errorf("%v tables and triggers are left", left)
	}
	if n := count("select count(*) from comments"); n != 1 {
		t.Errorf("%d comments", n)
	}
	// Every kind of write has lost its triggers.
	exec("update comments set body = '{\"a\":1}'")
	exec("update users set display_name = display_name")
	exec("update spaces set title = 'Without a log'")
	exec("delete from teams")
	if _, err := st.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if after := [3]int{count(theirs), count(triggers), count(schemas)}; after != before {
		t.Errorf("%v tables, triggers and columns, then %v", before, after)
	}
	again, _, err := st.CreateWebhook(t.Context(), store.NewWebhook{OrganizationID: organization, URL: "https://receiver.example.com/", Active: true})
	if err != nil {
		t.Fatal(err)
	}
	fill()
	if got := heard(t, st, again); len(got) != 1 {
		t.Errorf("%q", got)
	}
	kind := "comment"
	if entries := audited(t, st, organization, store.AuditFilter{ObjectType: &kind}); len(entries) != 1 {
		t.Errorf("%d entries of a comment", len(entries))
	}
}
