package store_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/storetest"
)

// planRows is the number of rows in most tables. With so many rows, a full table scan is never the cheapest plan. The
// tables in planLarge have twice as many rows. With fewer rows, Postgres would prefer another plan for them.
const planRows = 10_000

var planLarge = []string{"git_operations", "saved_segments", "site_redirects", "site_sections", "site_spaces"}

// TestListsUseTheirIndexes fills every table and reads the plans of all lists. A list must find its page through the
// index that the query's comment names. The plan must not scan a whole table. It may sort only if the comment gives a
// reason why the sort is small. The plans are for a page of ten rows without filters. The lists are much longer than
// the page.
//
// The test uses the same kinds of plans as production. For lists with optional filters or orders, Postgres plans each
// call for its values (a custom plan). For other lists, Postgres may use a custom plan or a generic plan, so both plans
// must be good.
func TestListsUseTheirIndexes(t *testing.T) {
	if testing.Short() {
		t.Skip("runs only in the long form: CI runs make test-long")
	}
	t.Parallel()
	conn, err := pgx.Connect(t.Context(), storetest.URL(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	fillTables(t, conn)
	for name, query := range store.ListQueries() {
		if query.Index == "" {
			t.Errorf("%s lists, but its comment names no index", name)
			continue
		}
		modes := []string{"force_custom_plan", "force_generic_plan"}
		if query.Optional {
			modes = modes[:1]
		}
		for _, mode := range modes {
			t.Run(name+"/"+mode, func(t *testing.T) {
				plan := explain(t, conn, mode, query.SQL)
				if !strings.Contains(plan, query.Index) {
					t.Errorf("the plan does not use %s:\n%s", query.Index, plan)
				}
				if strings.Contains(plan, "Seq Scan") {
					t.Errorf("the plan scans a whole table:\n%s", plan)
				}
				if strings.Contains(plan, "Sort") != query.Sorts {
					t.Errorf("the plan sorts and the comment does not say so, or the other way round:\n%s", plan)
				}
			})
		}
	}
	t.Run("SearchSpace/a word of every page", func(t *testing.T) {
		// A scan of the whole table would read the words of all pages, which are stored out of line. Postgres ignores
		// this cost.
		plan := explain(t, conn, "force_custom_plan", store.QueryText("SearchSpace"), "'every'")
		if strings.Contains(plan, "Seq Scan on search_pages") {
			t.Errorf("the plan scans all pages:\n%s", plan)
		}
	})
	for name, test := range orders {
		t.Run(name, func(t *testing.T) {
			query, _, _ := strings.Cut(name, "/")
			plan := explain(t, conn, "force_custom_plan", store.QueryText(query), test.values...)
			if !strings.Contains(plan, "using "+test.index+" ") || strings.Contains(plan, "Sort") || strings.Contains(plan, "Seq Scan") {
				t.Errorf("want %s:\n%s", test.index, plan)
			}
		})
	}
}

// orders has the lists whose statement can sort in several orders. `values` are the values of the statement's first
// parameters. The function explain gives the other parameters the same values as in other lists.
var orders = map[string]struct {
	values []string
	index  string
}{
	"ListMembers/joined":                       {[]string{"'v1'", "false", "false"}, "memberships_joined"},
	"ListMembers/joined ascending":             {[]string{"'v1'", "true", "false"}, "memberships_joined"},
	"ListMembers/seen":                         {[]string{"'v1'", "false", "true"}, "memberships_seen"},
	"ListMembers/seen ascending":               {[]string{"'v1'", "true", "true"}, "memberships_seen"},
	"ListClusters/updated":                     {[]string{"'v1'", "'updatedAt'", "false"}, "issues_clusters_updated"},
	"ListClusters/updated ascending":           {[]string{"'v1'", "'updatedAt'", "true"}, "issues_clusters_updated"},
	"ListClusters/issues":                      {[]string{"'v1'", "'issues'", "false"}, "issues_clusters_issues"},
	"ListClusters/issues ascending":            {[]string{"'v1'", "'issues'", "true"}, "issues_clusters_issues"},
	"ListClusters/conversations":               {[]string{"'v1'", "'conversations'", "false"}, "issues_clusters_conversations"},
	"ListClusters/conversations ascending":     {[]string{"'v1'", "'conversations'", "true"}, "issues_clusters_conversations"},
	"ListClusters/other":                       {[]string{"'v1'", "'drafts'", "false"}, "issues_clusters_organization"},
	"ListClusters/other ascending":             {[]string{"'v1'", "'drafts'", "true"}, "issues_clusters_organization"},
	"ListChangeRequestsInSpace/updated":        {[]string{"null", "null", "null", "null", "null", "'v1'", "false"}, "change_requests_space_updated"},
	"ListChangeRequestsInSpace/created":        {[]string{"null", "null", "null", "null", "null", "'v1'", "true"}, "change_requests_space_created"},
	"ListChangeRequestsInOrganization/updated": {[]string{"null", "null", "null", "null", "null", "'v1'", "null", "'v1'", "false"}, "change_requests_organization_updated"},
	"ListChangeRequestsInOrganization/created": {[]string{"null", "null", "null", "null", "null", "'v1'", "null", "'v1'", "true"}, "change_requests_organization_created"},
}

// TestOptionalFiltersArePlanned checks in the source files that statements with optional filters or orders run only
// through planned. TestListsUseTheirIndexes assumes that this is true.
func TestOptionalFiltersArePlanned(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	rooms, err := filepath.Glob("*/*.go")
	if err != nil {
		t.Fatal(err)
	}
	files = append(files, rooms...)
	call := regexp.MustCompile(`(\w+)\.(\w+)\(`)
	queries := store.ListQueries()
	planned := 0
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range call.FindAllStringSubmatch(string(source), -1) {
			from, query := match[1], queries[match[2]]
			if from == "Queries" && query.Optional {
				t.Errorf("%s: %s is not run through planned", file, match[2])
			}
			if from == "Planned" && query.SQL != "" {
				planned++
				if !query.Optional {
					t.Errorf("%s: %s is run through planned, but has no optional filters or orders", file, match[2])
				}
			}
		}
	}
	if planned == 0 {
		t.Error("no call was found")
	}
}

// TestScriptsAreNotRead checks that lists do not read the columns of scripts or encrypted secrets. A script may have
// megabytes, and a page of a list may have a thousand rows. No list of the API shows these columns.
func TestScriptsAreNotRead(t *testing.T) {
	t.Parallel()
	heavy := regexp.MustCompile(`\b(script|secrets)\b`)
	queries := store.ListQueries()
	for _, name := range []string{"IntegrationByName", "IntegrationForUser", "IntegrationTunnel"} {
		queries[name] = store.ListQuery{SQL: store.QueryText(name)}
	}
	for name, query := range queries {
		if found := heavy.FindString(query.SQL); found != "" || query.SQL == "" {
			t.Errorf("%s reads %q: %s", name, found, query.SQL)
		}
	}
}

// fillTables writes generated rows into every table. It first drops the constraints that such rows would violate.
func fillTables(t *testing.T, conn *pgx.Conn) {
	t.Helper()
	exec := func(sql string) {
		t.Helper()
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	for _, drop := range storetest.Collect(t, conn, `
		select format('alter table %s drop constraint %I', conrelid::regclass, conname)
		from pg_constraint where connamespace = 'public'::regnamespace and contype in ('c', 'f')`) {
		exec(drop)
	}
	tables := storetest.Collect(t, conn, `
		select tablename::text from pg_tables
		where schemaname = 'public' and tablename not in ('goose_db_version', 'octavo_baseline')`)
	for _, table := range tables {
		exec("alter table " + table + " disable trigger user")
		described, err := conn.Query(t.Context(), `
			select a.attname, format_type(a.atttypid, null), not a.attnotnull, exists (
				select 1 from pg_index i where i.indrelid = a.attrelid and i.indisunique and i.indnkeyatts = 1 and i.indkey[0] = a.attnum),
				a.attname !~ '_id$' and exists (
				select 1 from pg_index i where i.indrelid = a.attrelid and i.indisunique and i.indnkeyatts > 1 and a.attnum = any(i.indkey))
			from pg_attribute a
			where a.attrelid = $1::regclass and a.attnum > 0 and not a.attisdropped and a.attgenerated = '' and a.attidentity = '' order by a.attnum`, table)
		if err != nil {
			t.Fatal(err)
		}
		columns, err := pgx.CollectRows(described, pgx.RowToStructByPos[column])
		if err != nil {
			t.Fatal(err)
		}
		var names, values []string
		shared := 0
		for _, c := range columns {
			names = append(names, pgx.Identifier{c.Name}.Sanitize())
			values = append(values, c.value(t, table, &shared))
		}
		rows := planRows
		if slices.Contains(planLarge, table) {
			rows *= 2
		}
		exec(fmt.Sprintf("insert into %s (%s) select %s from generate_series(1, %d) g on conflict do nothing",
			table, strings.Join(names, ", "), strings.Join(values, ", "), rows))
	}
	for _, usual := range usually {
		exec(usual)
	}
	exec("vacuum analyze")
}

// usually is a list of statements that give rows their most common state, because generated rows do not have
// realistic proportions.
var usually = []string{
	`update river_job set metadata = jsonb_build_object('organization', 'v' || id % 100, 'sequence', 'v' || id % 200)`,
	"update erasures set done_at = asked_at where visitor % 100 > 0", // a hundredth of the erasures stay pending
	// A space has many pages.
	`insert into branch_pages (branch, page_id, since, parent_id, slug)
		select 'v' || g % 20, 'p' || g, 1, 'p' || g / 20, 's' || g from generate_series(1, 20 * 1000) g`,
}

type column struct {
	Name, Type string
	Nullable   bool
	Unique     bool
	// UniqueWith is true if the column is unique only together with other columns, such as a path within a site.
	UniqueWith bool
}

// value returns the SQL expression of a column's value in row g. Columns that are not unique have a hundred values
// each. The values are spread so that every pair of values of the first two columns occurs once. So unique keys of two
// columns can be filled. In keys of more columns, the last column is different in every row.
func (c column) value(t *testing.T, table string, shared *int) string {
	t.Helper()
	value := ""
	switch c.Type {
	case "text", "character varying":
		// The test reads the page of a list after some value. Half of the table's rows are before this value, and half
		// are after it.
		value = "case when g % 4 < 2 then 'u' else 'x' end || g"
		if !c.Unique && (!c.UniqueWith || *shared < 2) {
			spread := []string{"g % 100", "(g / 100) % 200", "g % 7", "g % 13", "g % 31"}
			value = "'v' || (" + spread[min(*shared, len(spread)-1)] + ")"
			*shared++
		}
	case "integer", "bigint", "smallint", "double precision", "numeric":
		value = "g"
	case "boolean":
		value = "g % 2 = 0"
	case "date":
		value = "date '2026-01-01' + g"
	case "timestamp with time zone":
		if c.Nullable {
			return "null"
		}
		return "now() - g * interval '1 minute'"
	case "jsonb":
		value = "'{}'::" + c.Type
	case "river_job_state":
		return "(case when g % 100 = 0 then 'discarded' when g % 100 = 1 then 'available' else 'completed' end)::river_job_state"
	case "bit":
		return "null"
	case "tsvector":
		value = "to_tsvector('simple', 'every v' || g % 100)"
	case "bytea":
		value = "sha256(g::text::bytea)"
	case "text[]", "character varying[]":
		value = "array['v' || g % 100]"
	case "bigint[]", "integer[]", "double precision[]", "jsonb[]":
		value = "'{}'::" + c.Type
	default:
		t.Fatalf("the test has no value for %s.%s of type %s", table, c.Name, c.Type)
	}
	if c.Nullable && !c.Unique {
		return "case when g % 2 = 0 then " + value + " end"
	}
	return value
}

// planValues has a value for each type of parameter, by the type's OID.
var planValues = map[uint32]string{
	pgtype.IntervalOID: "interval '1 day'",
	pgtype.TextOID:     "'v1'", pgtype.BoolOID: "false", pgtype.Int4OID: "11", pgtype.Int8OID: "11",
	pgtype.NumericOID: "51", pgtype.TimestamptzOID: "now() - interval '1 day'", pgtype.ByteaOID: "sha256('7')", pgtype.TextArrayOID: "'{v1,v2}'",
}

// explain returns the plan of a query without its optional filters. The first parameters have the values in `first`.
// All other parameters have values of planValues.
func explain(t *testing.T, conn *pgx.Conn, mode, query string, first ...string) string {
	t.Helper()
	described, err := conn.Prepare(t.Context(), "q", query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer func() { _ = conn.Deallocate(t.Context(), "q") }()
	if _, err := conn.Exec(t.Context(), "set plan_cache_mode = "+mode); err != nil {
		t.Fatal(err)
	}
	values := make([]string, len(described.ParamOIDs))
	for i, oid := range described.ParamOIDs {
		values[i] = "null" // arrays, and other types that only filters use
		if i < len(first) {
			values[i] = first[i]
			continue
		}
		// A function whose name ends with _like filters by its arguments, and ignores null arguments.
		if optional := fmt.Sprintf(`\$%[1]d::[a-z \[\]]+ is null|_like\([^)]*\$%[1]d\b`, i+1); regexp.MustCompile(optional).MatchString(query) {
			continue
		}
		if value, ok := planValues[oid]; ok {
			values[i] = value
		}
	}
	execute := "explain execute q"
	if len(values) > 0 {
		execute += "(" + strings.Join(values, ", ") + ")"
	}
	return strings.Join(storetest.Collect(t, conn, execute), "\n")
}
