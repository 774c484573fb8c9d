package store_test

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/storetest"
)

// planRows is how many rows every table gets: enough that reading one from end to end is never the cheapest plan.
const planRows = 20_000

// TestListsUseTheirIndexes fills every table and reads the plans: a list must find its page by the index that is named
// beside its query, never read a table from end to end, and not sort unless the query says why that is small. The plans are
// those of a page of ten, without filters: much shorter than the lists are.
func TestListsUseTheirIndexes(t *testing.T) {
	t.Parallel()
	conn, err := pgx.Connect(t.Context(), storetest.URL(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	fillTables(t, conn)
	for name, query := range store.ListQueries() {
		if query.Index == "" {
			t.Errorf("%s lists, and no index is named beside it", name)
			continue
		}
		plan := explain(t, conn, query.SQL)
		if !strings.Contains(plan, query.Index) {
			t.Errorf("%s does not use %s:\n%s", name, query.Index, plan)
		}
		if strings.Contains(plan, "Seq Scan") {
			t.Errorf("%s reads a table from end to end:\n%s", name, plan)
		}
		if strings.Contains(plan, "Sort") != query.Sorts {
			t.Errorf("%s: sorts, or says so and does not:\n%s", name, plan)
		}
	}
}

// fillTables writes generated rows into every table, past the constraints that would need them to make sense.
func fillTables(t *testing.T, conn *pgx.Conn) {
	t.Helper()
	exec := func(sql string) {
		t.Helper()
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	for _, drop := range collect(t, conn, `
		select format('alter table %s drop constraint %I', conrelid::regclass, conname)
		from pg_constraint where connamespace = 'public'::regnamespace and contype in ('c', 'f')`) {
		exec(drop)
	}
	tables := collect(t, conn, `
		select tablename::text from pg_tables where schemaname = 'public' and tablename <> 'goose_db_version'`)
	for _, table := range tables {
		rows, err := conn.Query(t.Context(), `
			select a.attname, format_type(a.atttypid, null), not a.attnotnull, exists (
				select 1 from pg_index i where i.indrelid = a.attrelid and i.indisunique and i.indnkeyatts = 1 and i.indkey[0] = a.attnum),
				a.attname !~ '_id$' and exists (
				select 1 from pg_index i where i.indrelid = a.attrelid and i.indisunique and i.indnkeyatts > 1 and a.attnum = any(i.indkey))
			from pg_attribute a
			where a.attrelid = $1::regclass and a.attnum > 0 and not a.attisdropped and a.attgenerated = '' and a.attidentity = '' order by a.attnum`, table)
		if err != nil {
			t.Fatal(err)
		}
		columns, err := pgx.CollectRows(rows, pgx.RowToStructByPos[column])
		if err != nil {
			t.Fatal(err)
		}
		var names, values []string
		shared := 0
		for _, c := range columns {
			names = append(names, pgx.Identifier{c.Name}.Sanitize())
			values = append(values, c.value(t, table, &shared))
		}
		exec(fmt.Sprintf("insert into %s (%s) select %s from generate_series(1, %d) g on conflict do nothing",
			table, strings.Join(names, ", "), strings.Join(values, ", "), planRows))
	}
	exec("vacuum analyze")
}

type column struct {
	Name, Type string
	Nullable   bool
	Unique     bool
	// UniqueWith says that the column is unique together with others, as a path is in a site.
	UniqueWith bool
}

// value is the expression of a column's value in row g. Columns that refer to others have a hundred values each, so spread
// that every pair of the first two comes once: keys of two columns are filled as well. Keys of more get a last column that is
// different in every row.
func (c column) value(t *testing.T, table string, shared *int) string {
	t.Helper()
	value := ""
	switch c.Type {
	case "text", "character varying":
		// Half of them before the value that a page follows, half behind it.
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
	case "timestamp with time zone":
		if c.Nullable {
			return "null"
		}
		return "now() - g * interval '1 minute'"
	case "jsonb":
		value = "'{}'::" + c.Type
	case "tsvector":
		value = "to_tsvector('simple', 'v' || g % 100)"
	case "bytea":
		value = "sha256(g::text::bytea)"
	case "text[]":
		value = "array['v' || g % 100]"
	case "bigint[]", "integer[]", "double precision[]", "jsonb[]":
		value = "'{}'::" + c.Type
	default:
		t.Fatalf("no value is known for %s.%s of type %s", table, c.Name, c.Type)
	}
	if c.Nullable && !c.Unique {
		return "case when g % 2 = 0 then " + value + " end"
	}
	return value
}

func collect(t *testing.T, conn *pgx.Conn, sql string) []string {
	t.Helper()
	rows, err := conn.Query(t.Context(), sql)
	if err != nil {
		t.Fatal(err)
	}
	texts, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return texts
}

// planValues has a value of every type that a query needs one of.
var planValues = map[uint32]string{
	pgtype.TextOID: "'v1'", pgtype.BoolOID: "false", pgtype.Int4OID: "11", pgtype.Int8OID: "11",
	pgtype.NumericOID: "51", pgtype.TimestamptzOID: "now() - interval '1 day'", pgtype.ByteaOID: "sha256('7')", pgtype.TextArrayOID: "'{v1,v2}'",
}

// explain gives a query's plan for one of the hundred values, without the filters that it can do without.
func explain(t *testing.T, conn *pgx.Conn, query string) string {
	t.Helper()
	described, err := conn.Prepare(t.Context(), "q", query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer func() { _ = conn.Deallocate(t.Context(), "q") }()
	if _, err := conn.Exec(t.Context(), "set plan_cache_mode = force_custom_plan"); err != nil {
		t.Fatal(err)
	}
	values := make([]string, len(described.ParamOIDs))
	for i, oid := range described.ParamOIDs {
		values[i] = "null" // Arrays and whatever else only filters.
		// A function that is called so filters by its arguments, unless they are null.
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
	return strings.Join(collect(t, conn, execute), "\n")
}
