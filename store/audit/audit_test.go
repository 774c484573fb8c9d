package audit_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/audit"
	"github.com/octavo-docs/octavo/store/postgres"
	"github.com/octavo-docs/octavo/store/sites"
	"github.com/octavo-docs/octavo/store/storetest"
)

// TestEveryTableIsAudited finds database tables without a row in the list of audited tables, and rows without a table.
// So the author of a new table must decide what the log shows of the table.
func TestEveryTableIsAudited(t *testing.T) {
	t.Parallel()
	conn := storetest.Connect(t, storetest.URL(t))
	there := map[string]bool{}
	for _, name := range storetest.Collect(t, conn,
		"select tablename::text from pg_tables where schemaname = 'public'") {
		there[name] = true
	}
	seen := map[string]bool{}
	for _, row := range audit.AuditedTables() {
		if seen[row.Name] || !there[row.Name] {
			t.Errorf("%s has two rows in store/audit/tables.go, or is no table", row.Name)
		}
		seen[row.Name] = true
		if (row.Object == "") != (row.Exempt != "") {
			t.Errorf("%s is neither audited nor exempt for a reason, or both", row.Name)
		}
	}
	for name := range there {
		if !seen[name] {
			t.Errorf("%s has no row in store/audit/tables.go: say what the audit log shows of it, "+
				"or why it is exempt", name)
		}
	}
	triggers := storetest.Collect(t, conn,
		"select tgrelid::regclass || ' ' || tgname from pg_trigger where tgname like 'audit\\_%' and tgfoid::regproc::text like 'audit\\_of\\_%'")
	audited := 0
	for _, row := range audit.AuditedTables() {
		if row.Object != "" {
			audited++
		}
	}
	if len(triggers) != 3*audited {
		t.Errorf("%d triggers on %d tables", len(triggers), audited)
	}
}

// TestAuditedColumnsAreThere runs the triggers of every audited table. The statements change no rows, but the
// triggers run as if rows had changed. If the list of audited tables had a wrong column or join for a table, every
// write to the table would fail.
func TestAuditedColumnsAreThere(t *testing.T) {
	t.Parallel()
	conn := storetest.Connect(t, storetest.URL(t))
	for _, row := range audit.AuditedTables() {
		if row.Object == "" {
			continue
		}
		definition := storetest.Collect(t, conn, "select pg_get_functiondef('audit_of_"+row.Name+"'::regproc)")[0]
		if strings.Count(definition, audit.Unchanged) != 3 {
			t.Fatalf("not three times %q in %s", audit.Unchanged, definition)
		}
		if _, err := conn.Exec(
			t.Context(), strings.ReplaceAll(definition, audit.Unchanged, "false and "+audit.Unchanged),
		); err != nil {
			t.Fatal(err)
		}
		columns := storetest.Collect(t, conn,
			fmt.Sprintf(`select quote_ident(column_name) from information_schema.columns
			where table_schema = 'public' and table_name = '%s' and is_generated = 'NEVER' and is_identity = 'NO'`, row.Name))
		if len(columns) == 0 {
			t.Errorf("%s has no column", row.Name)
			continue
		}
		for _, sql := range []string{
			fmt.Sprintf("insert into %[1]s (%[2]s) select %[2]s from %[1]s where false", row.Name, strings.Join(columns, ", ")),
			fmt.Sprintf("update %s set %[2]s = %[2]s where false", row.Name, columns[0]),
			fmt.Sprintf("delete from %s where false", row.Name),
		} {
			if _, err := conn.Exec(t.Context(), sql); err != nil {
				t.Errorf("%s: %v", sql, err)
			}
		}
	}
}

// TestNoSecretsAreAudited looks for columns with secrets. The log must not show their values.
func TestNoSecretsAreAudited(t *testing.T) {
	t.Parallel()
	conn := storetest.Connect(t, storetest.URL(t))
	// Columns of the type bytea have hashes of tokens, encrypted secrets, or contents.
	for _, name := range storetest.Collect(t, conn,
		`select table_name || '.' || column_name from information_schema.columns
		where table_schema = 'public' and data_type = 'bytea'`) {
		for _, column := range audit.AuditedColumns() {
			if column.Name == name && !column.Secret {
				t.Errorf("the log shows %s", name)
			}
		}
	}
}

// audited reads the log of an organization in pages of three entries. It returns the oldest entry first.
func audited(t *testing.T, st *store.Store, organization string, f audit.AuditFilter) (entries []schema.AuditEntry) {
	t.Helper()
	var after *postgres.Cursor[time.Time]
	for {
		page, err := st.Audit.ListAuditEntries(t.Context(), organization, f, after, 3)
		if err != nil {
			t.Fatal(err)
		}
		entries = append(entries, page.Rows...)
		if !page.More {
			if int(page.Total) != len(entries) {
				t.Errorf("%d entries, total %d", len(entries), page.Total)
			}
			for i := range len(entries) / 2 {
				entries[i], entries[len(entries)-1-i] = entries[len(entries)-1-i], entries[i]
			}
			return entries
		}
		last := audit.AuditEntryCursor(entries[len(entries)-1])
		after = &last
	}
}

// line returns an entry as one line of text.
func line(e schema.AuditEntry) string {
	return fmt.Sprintf("%s %s %s %s>%s by %s %s", e.Action, e.Target.Type, e.Operation, e.Before, e.After, e.Actor.Type, e.Actor.DisplayName)
}

// TestAuditOfOneObject tests a redirect, which is written by single statements, and a team, which is written by
// transactions.
func TestAuditOfOneObject(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	tenant := storetest.NewTenant(t, st, "acme")
	admin := tenant.Users[schema.RoleAdmin]
	who := postgres.Actor{
		Type: schema.ActorUser, ID: admin.ID, TokenID: "token1", TokenKind: "user", Operation: "changeRedirect", RequestID: "req'1\\", Address: "192.0.2.7",
	}
	ctx := postgres.By(t.Context(), who)
	url := "https://example.com/"
	made, err := st.Sites.CreateRedirect(ctx, tenant.Site.ID, sites.NewRedirect{
		Source: "/a", Destination: schema.SiteRedirectDestination{Kind: "external", URL: &url},
	})
	if err != nil {
		t.Fatal(err)
	}
	source := "/b"
	for range 2 { // the second call changes nothing
		if _, err := st.Sites.UpdateRedirect(
			ctx, tenant.Site.ID, made.ID, sites.RedirectChange{Source: &source},
		); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		if err := st.Sites.DeleteRedirect(ctx, tenant.Site.ID, made.ID); err != nil {
			t.Fatal(err)
		}
	}
	entries := audited(t, st, tenant.Organization.ID, audit.AuditFilter{ObjectID: &made.ID})
	want := []string{
		`create site-redirect changeRedirect null>{"url": "https://example.com/", "kind": "external", "draft": ` +
			`false, "source": "/a"} by user acme-admin`,
		`update site-redirect changeRedirect {"source": "/a"}>{"source": "/b"} by user acme-admin`,
		`delete site-redirect changeRedirect {"url": "https://example.com/", "kind": "external", "draft": false, ` +
			`"source": "/b"}>null by user acme-admin`,
	}
	if len(entries) != len(want) {
		t.Fatalf("%d entries: %+v", len(entries), entries)
	}
	for i, e := range entries {
		if line(e) != want[i] {
			t.Errorf("%s\nwant %s", line(e), want[i])
		}
		if e.Token == nil || e.Token.ID != "token1" || e.RequestID != "req1" || e.Address != "192.0.2.7" || e.Actor.ID != admin.ID ||
			e.Target.Site != tenant.Site.ID || e.Target.Organization != tenant.Organization.ID || e.Further != nil || e.At.Location() != time.UTC {
			t.Errorf("%+v", e)
		}
		if one, err := st.Audit.AuditEntry(ctx, tenant.Organization.ID, e.ID); err != nil || line(one) != line(e) {
			t.Errorf("%+v %v", one, err)
		}
		if _, err := st.Audit.AuditEntry(ctx, "another", e.ID); !schema.IsCode(err, schema.CodeNotFound) {
			t.Error(err)
		}
	}
	// The earlier changes had another actor, who must not stay set on the connection.
	if _, err := st.Sites.CreateShareLink(t.Context(), tenant.Site.ID, "Partners"); err != nil {
		t.Fatal(err)
	}
	kind := "share-link"
	links := audited(t, st, tenant.Organization.ID, audit.AuditFilter{ObjectType: &kind})
	if len(links) != 1 || line(links[0]) != `create share-link  null>{"key": "(secret)", "name": "Partners", "active": true} by system ` {
		t.Errorf("%+v", links)
	}
}

// TestAuditOfFailures checks that changes that are not committed leave no entry. It uses a refused statement, and a
// transaction that fails at the end.
func TestAuditOfFailures(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	st, conn := storetest.Open(t, url), storetest.Connect(t, url)
	tenant := storetest.NewTenant(t, st, "acme")
	ctx := postgres.By(t.Context(), postgres.Actor{Type: schema.ActorUser, ID: "u"})
	count := func() int { return len(audited(t, st, tenant.Organization.ID, audit.AuditFilter{})) }
	address := "https://example.com/"
	redirect := sites.NewRedirect{
		Source: "/a", Destination: schema.SiteRedirectDestination{Kind: "external", URL: &address},
	}
	if _, err := st.Sites.CreateRedirect(ctx, tenant.Site.ID, redirect); err != nil {
		t.Fatal(err)
	}
	before := count()
	if _, err := st.Sites.CreateRedirect(ctx, tenant.Site.ID, redirect); !schema.IsCode(err, schema.CodeConflict) {
		t.Error(err)
	}
	if err := st.Orgs.ChangeMemberRole(
		ctx, tenant.Organization.ID, tenant.Users[schema.RoleAdmin].ID, schema.RoleRead,
	); !schema.IsCode(err, schema.CodeConflict) {
		t.Error(err)
	}
	tx, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var written int
	err = tx.QueryRow(t.Context(), `with changed as (update sites set title = 'Never' returning 1) select count(*) from changed`).Scan(&written)
	if err != nil || written == 0 {
		t.Fatal(written, err)
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if after := count(); after != before {
		t.Errorf("%d entries, then %d", before, after)
	}
}

// TestAuditIsBounded changes many rows in one statement, and checks that the number of entries is limited.
func TestAuditIsBounded(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	st, conn := storetest.Open(t, url), storetest.Connect(t, url)
	ours, theirs := storetest.NewTenant(t, st, "ours"), storetest.NewTenant(t, st, "theirs")
	exec := func(sql string, args ...any) {
		t.Helper()
		if _, err := conn.Exec(t.Context(), sql, args...); err != nil {
			t.Fatal(err)
		}
	}
	exec(`insert into teams (id, organization_id, title) select 't' || g, $1, 'T' || g from generate_series(1, 250) g
		union all select 'u' || g, $2, 'T' || g from generate_series(1, 7) g`,
		ours.Organization.ID, theirs.Organization.ID)
	exec("update teams set title = title || id")
	exec("delete from teams")
	for organization, want := range map[string][]int64{ours.Organization.ID: {101, 150}, theirs.Organization.ID: {7, 0}} {
		kind := "team"
		counts, further := map[string]int64{}, map[string]int64{}
		for _, e := range audited(t, st, organization, audit.AuditFilter{ObjectType: &kind}) {
			counts[e.Action]++
			if e.Further != nil {
				further[e.Action] += *e.Further
				if e.Target.ID != "" || e.After != nil || e.Before != nil {
					t.Errorf("%+v", e)
				}
			}
		}
		for _, action := range schema.AuditActions() {
			if counts[action] != want[0] || further[action] != want[1] {
				t.Errorf("%s: %d entries, for %d more", action, counts[action], further[action])
			}
		}
	}
}

// TestAuditOfTransfers checks that moving content to another organization leaves an entry in both organizations.
func TestAuditOfTransfers(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	ours, theirs := storetest.NewTenant(t, st, "ours"), storetest.NewTenant(t, st, "theirs")
	collection, err := st.CreateCollection(t.Context(), store.NewCollection{OrganizationID: ours.Organization.ID, Title: "Guides"})
	if err != nil {
		t.Fatal(err)
	}
	space := storetest.Spaces(t, st, ours.Organization.ID, &collection.ID, 1)[0]
	admin := ours.Users[schema.RoleAdmin].ID
	ctx := postgres.By(t.Context(), postgres.Actor{Type: schema.ActorUser, ID: admin, Operation: "transferCollection"})
	if _, err := st.TransferCollection(ctx, collection.ID, ours.Organization.ID, theirs.Organization.ID, admin); err != nil {
		t.Fatal(err)
	}
	for _, organization := range []string{ours.Organization.ID, theirs.Organization.ID} {
		for _, id := range []string{collection.ID, space} {
			found := 0
			for _, e := range audited(t, st, organization, audit.AuditFilter{ObjectID: &id}) {
				if e.Operation == "transferCollection" && strings.Contains(string(e.Before), `"organizationId": "`+ours.Organization.ID+`"`) &&
					strings.Contains(string(e.After), `"organizationId": "`+theirs.Organization.ID+`"`) {
					found++
				}
			}
			if found != 1 {
				t.Errorf("the log of %s has %d entries about %s", organization, found, id)
			}
		}
	}
}

// TestAuditOfStrangers checks that unpublishing an integration ends its installations in other organizations. The
// entries of the other organizations must not contain the user who unpublished the integration.
func TestAuditOfStrangers(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	st, conn := storetest.Open(t, url), storetest.Connect(t, url)
	ours, theirs := storetest.NewTenant(t, st, "ours"), storetest.NewTenant(t, st, "theirs")
	_, err := conn.Exec(t.Context(), `insert into integrations (name, organization_id, visibility, target, manifest, script, title, scopes, categories,
			block_domains, has_blocks, has_content_sources) values ('tool', $1, 'public', 'all', '{}', '', 'Tool', '{}', '{}', '{}', false, false)`,
		ours.Organization.ID)
	if err != nil {
		t.Fatal(err)
	}
	for _, tenant := range []*storetest.Tenant{ours, theirs} {
		_, err := conn.Exec(t.Context(), "insert into integration_installations (id, integration, organization_id, user_id) values ('of ' || $1::text, 'tool', $1, $2)",
			tenant.Organization.ID, tenant.Users[schema.RoleRead].ID)
		if err != nil {
			t.Fatal(err)
		}
	}
	ctx := postgres.By(t.Context(), postgres.Actor{
		Type: schema.ActorUser, ID: ours.Users[schema.RoleAdmin].ID, TokenID: "token1", TokenKind: "user", Operation: "unpublishIntegration",
		RequestID: "request1", Address: "192.0.2.7",
	})
	if err := st.UnpublishIntegration(ctx, "tool"); err != nil {
		t.Fatal(err)
	}
	for _, tenant := range []*storetest.Tenant{ours, theirs} {
		operation, kind := "unpublishIntegration", "integration-installation"
		entries := audited(t, st, tenant.Organization.ID, audit.AuditFilter{Operation: &operation, ObjectType: &kind})
		if len(entries) != 1 || entries[0].Action != "delete" {
			t.Fatalf("%+v", entries)
		}
		e, known := entries[0], tenant == ours
		if (e.Actor.DisplayName == "ours-admin") != known || (e.Address == "192.0.2.7") != known || (e.Token != nil) != known || (e.RequestID != "") != known {
			t.Errorf("%+v", e)
		}
	}
}

// TestAuditByManyWriters makes changes with different actors concurrently over few connections. Each entry must have
// the right actor.
func TestAuditByManyWriters(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	tenant := storetest.NewTenant(t, st, "acme")
	var wait sync.WaitGroup
	const writers, each = 12, 10
	for w := range writers {
		wait.Go(func() {
			name := fmt.Sprint("writer", w)
			ctx := postgres.By(t.Context(), postgres.Actor{Type: schema.ActorOperator, ID: name, Operation: name})
			for i := range each {
				var err error
				if i%2 == 0 {
					_, err = st.Sites.CreateShareLink(ctx, tenant.Site.ID, name)
				} else {
					_, err = st.CreateCollection(ctx, store.NewCollection{OrganizationID: tenant.Organization.ID, Title: name})
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wait.Wait()
	for w := range writers {
		name := fmt.Sprint("writer", w)
		entries := audited(t, st, tenant.Organization.ID, audit.AuditFilter{Actor: &name})
		if len(entries) != each {
			t.Errorf("%s: %d entries", name, len(entries))
		}
		for _, e := range entries {
			if !strings.Contains(string(e.After), `"`+name+`"`) || e.Operation != name {
				t.Errorf("%s: %+v", name, e)
			}
		}
	}
}

// TestAuditStays checks that entries cannot be changed, and that old entries can be deleted.
func TestAuditStays(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	st, conn := storetest.Open(t, url), storetest.Connect(t, url)
	tenant := storetest.NewTenant(t, st, "acme")
	for _, sql := range []string{
		"update audit_log set actor_id = 'somebody else'", "delete from audit_log", "truncate audit_log",
		"set octavo.forget_audit_entries = 'on'; update audit_log set actor_id = 'somebody else'",
	} {
		_, err := conn.Exec(t.Context(), sql, pgx.QueryExecModeSimpleProtocol)
		if err == nil || !strings.Contains(err.Error(), "cannot change or delete entries of the audit log") {
			t.Errorf("%s: %v", sql, err)
		}
	}
	if _, err := conn.Exec(t.Context(), "reset octavo.forget_audit_entries"); err != nil {
		t.Fatal(err)
	}
	entries := audited(t, st, tenant.Organization.ID, audit.AuditFilter{})
	half := entries[len(entries)/2].At
	for _, sql := range []string{
		"alter table audit_log disable trigger audit_log_stays",
		"update audit_log set at = at - interval '10 days' where at < '" + half.Format(time.RFC3339Nano) + "'",
		"alter table audit_log enable trigger audit_log_stays",
	} {
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	if more, err := st.Audit.DeleteOldAuditEntries(t.Context(), 5*24*time.Hour); more || err != nil {
		t.Error(more, err)
	}
	left := audited(t, st, tenant.Organization.ID, audit.AuditFilter{})
	if len(left) != len(entries)-len(entries)/2 || left[0].At.Before(half) {
		t.Errorf("%d entries, then %d", len(entries), len(left))
	}
	until := audited(t, st, tenant.Organization.ID, audit.AuditFilter{Since: &half, Until: &left[len(left)-1].At})
	if len(until) != len(left)-1 {
		t.Errorf("%d entries of %d", len(until), len(left)-1)
	}
}

// TestAuditOfRemovedOrganizations removes an organization. The organization's log must be deleted too. The
// installation's log must name the user who removed the organization.
func TestAuditOfRemovedOrganizations(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	st, conn := storetest.Open(t, url), storetest.Connect(t, url)
	tenant, kept := storetest.NewTenant(t, st, "acme"), storetest.NewTenant(t, st, "kept")
	before := len(audited(t, st, kept.Organization.ID, audit.AuditFilter{}))
	ctx := postgres.By(t.Context(), postgres.Actor{Type: schema.ActorUser, ID: tenant.Users[schema.RoleAdmin].ID})
	if err := st.Orgs.Delete(ctx, tenant.Organization.ID); err != nil {
		t.Fatal(err)
	}
	if err := st.Orgs.Purge(t.Context()); err != nil {
		t.Fatal(err)
	}
	if left := audited(t, st, tenant.Organization.ID, audit.AuditFilter{}); len(left) != 0 {
		t.Errorf("%d entries: %+v", len(left), left[0])
	}
	if after := len(audited(t, st, kept.Organization.ID, audit.AuditFilter{})); after != before {
		t.Errorf("%d entries of another organization, then %d", before, after)
	}
	removed := storetest.Collect(t, conn,
		`select concat_ws(' ', action, object_id, actor_type, actor_name) from audit_log
		where organization_id is null and object_type = 'organization' order by id`)
	id := tenant.Organization.ID
	if !slices.Equal(removed, []string{"update " + id + " user acme-admin", "delete " + id + " system"}) {
		t.Error(removed)
	}
}

// TestAuditOfErasures checks that the log has the user who requested an erasure. The log has the visitor only as a
// keyed hash. The entry stays when the erasure's row is deleted.
func TestAuditOfErasures(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	st, conn := storetest.Open(t, url), storetest.Connect(t, url)
	tenant := storetest.NewTenant(t, st, "acme")
	ctx := postgres.By(t.Context(), postgres.Actor{
		Type: schema.ActorUser, ID: tenant.Users[schema.RoleAdmin].ID, Operation: "eraseSiteVisitor",
	})
	for range 2 { // The second call repeats the first request.
		if _, err := st.Sites.AskErasure(ctx, tenant.Site.ID, 1<<63|7, time.Now(), time.Hour); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := st.Sites.AskKeyErasure(ctx, tenant.Site.ID, "k.1", time.Now(), time.Hour); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(t.Context(), "update erasures set done_at = now() - interval '1 year', log_until = now() - interval '1 year'"); err != nil {
		t.Fatal(err)
	}
	if err := st.Sites.ForgetErasures(t.Context()); err != nil {
		t.Fatal(err)
	}
	kind := "visitor-erasure"
	got := []string{}
	key := ""
	for _, e := range audited(t, st, tenant.Organization.ID, audit.AuditFilter{ObjectType: &kind}) {
		if text := line(e); strings.Contains(text, "eventKey") {
			key += text + "\n"
			continue
		}
		got = append(got, e.Target.ID+" "+line(e))
	}
	for _, part := range []string{
		"create visitor-erasure eraseSiteVisitor null>", `"eventKey": "k.1"`, "by user acme-admin",
		"delete visitor-erasure",
	} {
		if !strings.Contains(key, part) || strings.Count(key, "\n") != 2 {
			t.Errorf("%q is not in the entries of a key: %s", part, key)
		}
	}
	const visitor = "-9223372036854775801"
	want := []string{
		visitor + ` create visitor-erasure eraseSiteVisitor null>{"visitor": ` + visitor + `} by user acme-admin`,
		visitor + ` delete visitor-erasure  {"visitor": ` + visitor + `}>null by system `,
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
}
