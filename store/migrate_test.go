package store_test

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/postgres"
	"github.com/octavo-docs/octavo/store/storetest"
)

// TestFunctionsAreCurrent changes a function and a trigger in the database directly. The next start must restore the
// store's text. The start after that must write nothing. An older node, which has fewer migrations than the database,
// must not change the text.
func TestFunctionsAreCurrent(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	conn := storetest.Connect(t, url)
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
		st, err := store.New(postgres.Config{URL: url}, store.Config{})
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
		select g.* from grants g where false $$; comment on table octavo_baseline is 'another text'`
	const trigger = `select oid::text || ' ' || pg_get_triggerdef(oid) from pg_trigger
		where tgname = 'front_ends_hear_update' and tgrelid = 'spaces'::regclass`

	before, first := query(version), query(trigger)
	migrate()
	if after := query(version); after != before {
		t.Errorf("a start without changes wrote the function again: %s", after)
	}
	exec(theirs)
	migrate()
	if after := query(version); strings.Contains(after, "where false") {
		t.Errorf("the text of another version was not replaced: %s", after)
	}
	// Creating a trigger locks its table, so Migrate creates only triggers whose text differs.
	if after := query(trigger); after != first {
		t.Errorf("Migrate created an unchanged trigger again: %s instead of %s", after, first)
	}
	exec(`drop trigger front_ends_hear_update on spaces; comment on table octavo_baseline is 'another text';
		create trigger front_ends_hear_update after update on spaces for each row execute function spaces_changed()`)
	migrate()
	const unmarked = `select coalesce(string_agg(tgname || ' on ' || tgrelid::regclass, ', '), '') from pg_trigger
		where not tgisinternal and obj_description(oid, 'pg_trigger') is null`
	if found := query(unmarked); found != "" {
		t.Errorf("triggers without the hash of their statement: %s", found)
	}
	if after := query(trigger); !strings.Contains(after, "git_sync") {
		t.Errorf("Migrate did not replace the trigger of another text: %s", after)
	}
	exec(theirs)
	exec("insert into goose_db_version (version_id, is_applied) values (99999, true)")
	migrate()
	if after := query(version); !strings.Contains(after, "where false") {
		t.Errorf("an older node replaced the newer text: %s", after)
	}
}
