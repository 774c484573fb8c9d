package store_test

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/store/storetest"
)

// TestTeamsOfOneTitleGetNumbers runs the migration that makes titles of teams unique, with teams that share a title.
// The oldest team must keep its title. The other teams must get numbers, even if other titles already have such
// numbers.
func TestTeamsOfOneTitleGetNumbers(t *testing.T) {
	t.Parallel()
	url, ours, theirs := storetest.Tenants(t)
	conn := storetest.Connect(t, url)
	text, err := os.ReadFile("migrations/00009_teams_and_redirects.sql")
	if err != nil {
		t.Fatal(err)
	}
	const last = "create unique index teams_title on teams (title, organization_id);"
	migration, _, found := strings.Cut(string(text), last)
	if !found {
		t.Fatalf("no %s in the migration", last)
	}
	long := strings.Repeat("é", 64)
	exec := func(sql string, args ...any) {
		t.Helper()
		if _, err := conn.Exec(t.Context(), sql, args...); err != nil {
			t.Fatal(err)
		}
	}
	exec("drop index teams_title")
	for _, team := range []struct{ id, organization, title string }{
		{"1", ours.Organization.ID, "Writers"}, {"2", ours.Organization.ID, "Writers (2)"},
		{"3", theirs.Organization.ID, "Writers"},
		{"4", ours.Organization.ID, "Writers"}, {"5", ours.Organization.ID, "Writers"},
		{"6", ours.Organization.ID, "writers"},
		{"7", ours.Organization.ID, long}, {"8", ours.Organization.ID, long},
		{"9", ours.Organization.ID, "Writers (2)"},
	} {
		exec(
			"insert into teams (id, organization_id, title) values ($1, $2, $3)",
			team.id,
			team.organization,
			team.title,
		)
	}
	exec(migration+last, pgx.QueryExecModeSimpleProtocol)
	rows, err := conn.Query(t.Context(), "select title from teams where length(id) = 1 order by id")
	if err != nil {
		t.Fatal(err)
	}
	titles, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{
		"Writers", "Writers (2)", "Writers", "Writers (3)", "Writers (4)", "writers", long,
		strings.Repeat("é", 60) + " (2)", "Writers (2) (2)",
	}, titles); diff != "" {
		t.Error(diff)
	}
}
