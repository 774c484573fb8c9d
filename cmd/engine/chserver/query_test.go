package chserver

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

func TestPing(t *testing.T) {
	t.Parallel()
	eachCompression(t, func(t *testing.T, db driver.Conn) {
		must(t, db.Ping(t.Context()))
		v, err := db.ServerVersion()
		must(t, err)
		if v.Version.Major < 26 || v.Timezone.String() != "UTC" {
			t.Errorf("server is %v", v)
		}
	})
}

var awkward = map[string]string{
	"empty": "", "plain": "abc", "quotes": `a'b"c` + "`d", "backslashes": `\ \\ \n \' \N`, "newlines": "a\n\nb\r\n\tc",
	"nul": "a\x00b\x00", "unicode": "žluťoučký 🐎 漢字", "null marker": `\N`, "sql": "'; DROP TABLE t; --", "braces": "{a:String}",
	"not utf-8": "\xff\xfe\x80", "controls": "\b\f\v\a\x01\x7f",
}

func TestParametersKeepAwkwardText(t *testing.T) {
	t.Parallel()
	db := fresh(t)
	for name, text := range awkward {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := one[string](t, db, t.Context(), "SELECT {p:String}", clickhouse.Named("p", text)); got != text {
				t.Errorf("String: %q came back as %q", text, got)
			}
			array := one[[]string](t, db, t.Context(), "SELECT {p:Array(String)}", clickhouse.Named("p", []string{text, "x", text}))
			if len(array) != 3 || array[0] != text || array[2] != text {
				t.Errorf("Array(String): %q came back as %q", text, array)
			}
		})
	}
}

func TestTypedParameters(t *testing.T) {
	t.Parallel()
	db := fresh(t)
	for typ, c := range map[string]struct {
		value any
		want  string
	}{
		"UInt64": {uint64(1<<64 - 1), "18446744073709551615"}, "Int32": {int32(-5), "-5"}, "Float64": {1.5, "1.5"}, "Bool": {true, "true"},
		"Array(UInt64)": {[]uint64{1, 2}, "[1,2]"}, "Nullable(String)": {nil, "ᴺᵁᴸᴸ"}, "Date": {"2024-02-29", "2024-02-29"},
		"DateTime64(3, 'UTC')": {"2024-02-29 01:02:03.456", "2024-02-29 01:02:03.456"}, "UUID": {"61f0c404-5cb3-11e7-907b-a6006ad3dba0", "61f0c404-5cb3-11e7-907b-a6006ad3dba0"},
		"Map(String, String)": {map[string]string{"a": "b'c"}, `{'a':'b\'c'}`}, "Tuple(UInt8, String)": {clickhouse.GroupSet{Value: []any{1, "x"}}, "(1,'x')"},
	} {
		t.Run(typ, func(t *testing.T) {
			t.Parallel()
			got := one[string](t, db, t.Context(), "SELECT ifNull(toString({p:"+typ+"}), 'ᴺᵁᴸᴸ')", clickhouse.Named("p", c.value))
			if got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
	ctx := clickhouse.Context(t.Context(), clickhouse.WithParameters(clickhouse.Parameters{"a": "7", "b": "x"}))
	if got := one[string](t, db, ctx, "SELECT concat(toString({a:UInt8}), {b:String})"); got != "7x" {
		t.Errorf("WithParameters gave %q", got)
	}
	must(t, db.Exec(t.Context(), "CREATE TABLE t (s String) ENGINE = MergeTree ORDER BY s"))
	must(t, db.Exec(t.Context(), "INSERT INTO t SELECT {p:String}", clickhouse.Named("p", "a'\n\nb")))
	if got := one[string](t, db, t.Context(), "SELECT s FROM t"); got != "a'\n\nb" {
		t.Errorf("INSERT SELECT with a parameter stored %q", got)
	}
}

// single limits a pool to one connection. So a setting or parameter that leaks from a query is visible to the next
// query.
func single(o *clickhouse.Options) { o.MaxOpenConns, o.MaxIdleConns = 1, 1 }

func TestParametersDoNotLeak(t *testing.T) {
	t.Parallel()
	db := fresh(t, single)
	one[string](t, db, t.Context(), "SELECT {p:String}", clickhouse.Named("p", "x"))
	other := clickhouse.Named("other", "y")
	if err := db.QueryRow(t.Context(), "SELECT {p:String}", other).Err(); codeOf(err) != 456 {
		t.Errorf("a parameter of an earlier query is still set: %v", err)
	}
}

func codeOf(err error) int32 {
	if e := (*clickhouse.Exception)(nil); errors.As(err, &e) {
		return e.Code
	}
	return -1
}

func TestSettingsDoNotLeak(t *testing.T) {
	t.Parallel()
	const ask = "SELECT concat(toString(getSetting('max_threads')), ' ', getSetting('session_timezone'), ' ', toString(getSetting('max_result_rows')))"
	db := fresh(t, single)
	usual := one[string](t, db, t.Context(), ask)
	with := func(s clickhouse.Settings) context.Context {
		return clickhouse.Context(t.Context(), clickhouse.WithSettings(s))
	}
	changed := clickhouse.Settings{"max_threads": 7, "session_timezone": "Asia/Tokyo", "max_result_rows": 99}
	if got := one[string](t, db, with(changed), ask); got != "7 Asia/Tokyo 99" {
		t.Errorf("settings were not applied: %q", got)
	}
	check := func(after string) {
		t.Helper()
		if got := one[string](t, db, t.Context(), ask); got != usual {
			t.Errorf("after %s the settings are %q, were %q", after, got, usual)
		}
	}
	check("a query with settings")
	if err := db.Exec(with(changed), "SELECT nosuch"); codeOf(err) != 47 {
		t.Errorf("got %v", err)
	}
	check("a failed query with settings")
	if err := db.Exec(with(clickhouse.Settings{"max_threads": 7, "no_such_setting": 1}), "SELECT 1"); codeOf(err) != 115 {
		t.Errorf("an unknown setting gave %v", err)
	}
	check("an unknown setting")
	if err := db.Exec(with(clickhouse.Settings{"max_threads": "many"}), "SELECT 1"); codeOf(err) <= 0 {
		t.Errorf("a bad value gave %v", err)
	}
	check("a bad value")
	one[uint8](t, db, with(clickhouse.Settings{"readonly": 1}), "SELECT 1")
	check("readonly")
	one[uint8](t, db, with(clickhouse.Settings{"log_comment": "it's mine"}), "SELECT 1")
	check("log_comment")
	one[uint8](t, db, with(changed), "SELECT 1")
	one[uint8](t, db, with(clickhouse.Settings{"max_threads": 5}), "SELECT 1")
	if got := one[string](t, db, with(clickhouse.Settings{"max_threads": 5}), ask); got != "5"+strings.TrimPrefix(usual, strings.Fields(usual)[0]) {
		t.Errorf("settings of the previous query are still set: %q", got)
	}
	must(t, db.Exec(t.Context(), "CREATE TABLE t (a UInt64, b UInt64) ENGINE = Memory"))
	batch, err := db.PrepareBatch(with(clickhouse.Settings{"max_result_rows": 1, "result_overflow_mode": "throw"}), "INSERT INTO t")
	must(t, err)
	must(t, batch.Append(uint64(1), uint64(2)))
	must(t, batch.Send())
	check("an insert with settings")
	must(t, db.Exec(with(changed), "SET max_threads = 3, max_result_rows = 12"))
	if got := one[string](t, db, with(changed), ask); got != "7 Asia/Tokyo 99" {
		t.Errorf("settings were not applied again after SET: %q", got)
	}
	usual = "3 UTC 12"
	check("SET by the client")
	if got := one[string](t, db, with(changed), ask); got != "7 Asia/Tokyo 99" {
		t.Errorf("settings were not applied over SET: %q", got)
	}
	check("a query with settings over SET")
	if err := db.Exec(with(clickhouse.Settings{"max_result_rows": 2, "result_overflow_mode": "throw"}), "SELECT number FROM numbers(10)"); codeOf(err) != 396 {
		t.Errorf("max_result_rows gave %v", err)
	}
	if err := db.Exec(with(clickhouse.Settings{"max_memory_usage": 1000000}), "SELECT groupArray(number) FROM numbers(10000000)"); codeOf(err) != 241 {
		t.Errorf("max_memory_usage gave %v", err)
	}
}

func TestExceptions(t *testing.T) {
	t.Parallel()
	db := fresh(t)
	for query, want := range map[string]struct {
		code int32
		text string
	}{
		"SELECT * FROM missing":           {60, "missing"},
		"SELECT missing":                  {47, "missing"},
		"SELECT FROM WHERE":               {62, "Syntax error"},
		"selct 1":                         {codeAccessDenied, "selct"},
		"SELECT 1; SELECT 2":              {62, "Multi-statements"},
		"":                                {62, "Empty query"},
		"SELECT throwIf(1, 'it\\'s bad')": {395, "it's bad"},
		"SELECT throwIf(number = 500000) FROM numbers(1000000)": {395, "throwIf"},
		"SELECT uniqState(1)":        {50, "AggregateFunction"},
		"DROP TABLE missing":         {60, "missing"},
		"SELECT intDiv(1, 0)":        {153, "zero"},
		"INSERT INTO missing VALUES": {60, "missing"},
	} {
		t.Run(query, func(t *testing.T) {
			t.Parallel()
			err := exhaust(t.Context(), db, query)
			if codeOf(err) != want.code || !strings.Contains(err.Error(), want.text) || strings.Contains(err.Error(), "DB::Exception: ") {
				t.Errorf("want code %d and %q, got %v", want.code, want.text, err)
			}
		})
	}
	must(t, db.Ping(t.Context()))
}

// exhaust runs a query and reads its result to the end.
func exhaust(ctx context.Context, db driver.Conn, query string, args ...any) error {
	rows, err := db.Query(ctx, query, args...)
	if err != nil {
		return err
	}
	for rows.Next() {
	}
	return errors.Join(rows.Err(), rows.Close())
}

func TestEmptyResultsHaveColumns(t *testing.T) {
	t.Parallel()
	db := fresh(t)
	must(t, db.Exec(t.Context(), "CREATE TABLE t (a UInt64, l LowCardinality(Nullable(String)), m Map(String, UInt8)) ENGINE = MergeTree ORDER BY a"))
	for query, want := range map[string]string{
		"SELECT * FROM t": "a UInt64, l LowCardinality(Nullable(String)), m Map(String, UInt8)",
		"SELECT a AS x, {p:String} AS p FROM t WHERE a = 5 FORMAT JSON":      "x UInt64, p String",
		"WITH 1 AS one SELECT one, l FROM t":                                 "one UInt8, l LowCardinality(Nullable(String))",
		"SELECT a FROM t UNION ALL SELECT a FROM t SETTINGS max_threads = 1": "a UInt64",
		"SHOW TABLES LIKE 'nothing'":                                         "name String",
		"SELECT 1 AS x /* ; */ WHERE 0 -- ;":                                 "x UInt8",
	} {
		t.Run(query, func(t *testing.T) {
			t.Parallel()
			rows, err := db.Query(t.Context(), query, clickhouse.Named("p", "x"))
			must(t, err)
			var got []string
			for _, c := range rows.ColumnTypes() {
				got = append(got, c.Name()+" "+c.DatabaseTypeName())
			}
			if rows.Next() || rows.Close() != nil || strings.Join(got, ", ") != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
	var v uint64
	if err := db.QueryRow(t.Context(), "SELECT a FROM t").Scan(&v); !errors.Is(err, sql.ErrNoRows) {
		t.Errorf("got %v", err)
	}
}

func TestStatementsOfAllSorts(t *testing.T) {
	t.Parallel()
	db := fresh(t, single)
	for _, query := range []string{
		"CREATE TABLE t (a UInt64, s String) ENGINE = MergeTree ORDER BY a SETTINGS index_granularity = 1024",
		"INSERT INTO t VALUES (1, 'a\n\nb'), (2, 'x;y')",
		"INSERT INTO t (a, s) VALUES (3, 'c');",
		"INSERT INTO t VALUES (4, 'd')",
		"insert into t select 5, 'e'",
		"INSERT INTO t (a) SELECT number + 6 FROM numbers(3)",
		"OPTIMIZE TABLE t FINAL",
		"ALTER TABLE t ADD COLUMN u UInt8 DEFAULT 7",
		"ALTER TABLE t DELETE WHERE a = 8 SETTINGS mutations_sync = 2",
		"CREATE TEMPORARY TABLE mine (a UInt8)",
		"INSERT INTO mine VALUES (1)",
		"CREATE VIEW v AS SELECT count() AS n FROM t",
		"SYSTEM FLUSH LOGS",
		"EXPLAIN SELECT * FROM t",
		"CHECK TABLE t",
		"SHOW CREATE TABLE t",
		"RENAME TABLE t TO t2",
		"(SELECT 1) UNION ALL (SELECT 2)",
		"WITH x AS (SELECT 1 AS a) SELECT * FROM x",
		"TRUNCATE TABLE mine",
		"USE default",
	} {
		if err := db.Exec(t.Context(), query); err != nil { // later statements use tables of earlier statements
			t.Fatalf("%s: %v", query, err)
		}
	}
	if got := one[string](t, db, t.Context(), "SELECT currentDatabase()"); got != "default" {
		t.Errorf("USE went to %s", got)
	}
}

func TestDatabaseOfTheGreeting(t *testing.T) {
	t.Parallel()
	p := sharedServer(t)
	a, b := fresh(t), fresh(t)
	for _, db := range []driver.Conn{a, b} {
		must(t, db.Exec(t.Context(), "CREATE TABLE t (d String) ENGINE = MergeTree ORDER BY d"))
		must(t, db.Exec(t.Context(), "INSERT INTO t SELECT currentDatabase()"))
	}
	x, y := one[string](t, a, t.Context(), "SELECT d FROM t"), one[string](t, b, t.Context(), "SELECT d FROM t")
	if x == y {
		t.Errorf("both are in %s", x)
	}
	if err := connect(t, p, "no'such`db").Ping(t.Context()); codeOf(err) != 81 {
		t.Errorf("an unknown database gave %v", err)
	}
}

func TestLoginIsRequired(t *testing.T) {
	t.Parallel()
	p := sharedServer(t)
	for _, auth := range []clickhouse.Auth{
		{}, {Username: "default"}, {Username: "root"}, {Username: "default", Password: testPassword},
		{Username: testUser}, {Username: testUser, Password: "x"}, {Username: testUser, Password: testPassword + "x"},
		{Username: testUser, Password: testPassword[:4]}, {Username: testPassword, Password: testUser},
	} {
		t.Run(auth.Username+":"+auth.Password, func(t *testing.T) {
			t.Parallel()
			db := connect(t, p, "default", func(o *clickhouse.Options) { o.Auth = auth })
			if err := db.Ping(t.Context()); codeOf(err) != codeAuthentication {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestFigures(t *testing.T) {
	t.Parallel()
	eachCompression(t, func(t *testing.T, db driver.Conn) {
		must(t, db.Exec(t.Context(), "CREATE TABLE t (a UInt64) ENGINE = MergeTree ORDER BY a"))
		must(t, db.Exec(t.Context(), "INSERT INTO t SELECT number FROM numbers(200000)"))
		var rows, bytes, resultRows, packets uint64
		ctx := clickhouse.Context(t.Context(),
			clickhouse.WithQueryID("mine"),
			clickhouse.WithProgress(func(p *clickhouse.Progress) { rows, bytes, packets = rows+p.Rows, bytes+p.Bytes, packets+1 }),
			clickhouse.WithProfileInfo(func(p *clickhouse.ProfileInfo) { resultRows += p.Rows }))
		must(t, exhaust(ctx, db, "SELECT a, count() FROM t GROUP BY a % 10 AS a"))
		if rows != 200000 || bytes != 1600000 || resultRows != 10 || packets == 0 {
			t.Errorf("rows %d bytes %d result %d", rows, bytes, resultRows)
		}
		rows, resultRows = 0, 0
		must(t, exhaust(ctx, db, "SELECT a FROM t"))
		if rows != 200000 || resultRows != 200000 {
			t.Errorf("streamed: rows %d result %d", rows, resultRows)
		}
	})
}

// TestEngineArguments checks that the engine uses the arguments, because the library ignores unknown arguments.
func TestEngineArguments(t *testing.T) {
	t.Parallel()
	db := fresh(t)
	names := []string{"background_pool_size", "os_threads_nice_value_merge_mutate", "mark_cache_size", "max_thread_pool_size", "max_server_memory_usage_to_ram_ratio"}
	got := one[uint64](t, db, t.Context(), "SELECT count() FROM system.server_settings WHERE changed AND has({names:Array(String)}, name)", clickhouse.Named("names", names))
	if got != uint64(len(names)) {
		t.Errorf("only %d of %v are set", got, names)
	}
	// The engine's defaults would require more free slots than this small pool has. Then merges would stay small, and
	// mutations would wait.
	if got := one[uint64](t, db, t.Context(), "SELECT max(toUInt64(value)) FROM system.merge_tree_settings WHERE name LIKE 'number_of_free_entries_in_pool%'"); got > 1 {
		t.Errorf("merges need %d free slots", got)
	}
	if got := one[uint64](t, db, t.Context(), "SELECT count() FROM system.tables WHERE name LIKE '%\\_log'"); got != 0 {
		t.Errorf("there are %d log tables", got)
	}
}

// TestSmallEngine gives the engine little memory, so its caches and merges are smaller. A query that needs too much
// memory fails with the error for the engine's total limit, and the next query succeeds.
func TestSmallEngine(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir(), childEnv+"_MEMORY="+strconv.Itoa(256<<20))
	db := connect(t, p, "default")
	for name, want := range map[string]uint64{
		"max_server_memory_usage": 256 << 20, "merges_mutations_memory_usage_soft_limit": 128 << 20,
		"mark_cache_size": 16 << 20, "primary_index_cache_size": 8 << 20, "background_pool_size": 2,
	} {
		const setting = "SELECT toUInt64(value) FROM system.server_settings WHERE name = {name:String}"
		if got := one[uint64](t, db, t.Context(), setting, clickhouse.Named("name", name)); got != want {
			t.Errorf("%s is %d, want %d", name, got, want)
		}
	}
	err := db.Exec(t.Context(), "SELECT length(groupArray(number)) FROM numbers(100000000)")
	e, ok := errors.AsType[*clickhouse.Exception](err)
	if !ok || e.Code != 241 || !strings.Contains(e.Message, "(total)") {
		t.Errorf("a query that does not fit: %v", err)
	}
	if got := one[uint64](t, db, t.Context(), "SELECT count() FROM numbers(100000)"); got != 100_000 {
		t.Errorf("the next query counts %d", got)
	}
	for most, want := range map[int64]int64{0: 1 << 30, 256 << 20: 64 << 20, 1 << 30: 128 << 20, 16 << 30: 1 << 30} {
		c := Config{DataDir: "d", Library: "l", Listen: "localhost:0", User: "u", Password: "p", MaxMemory: most}
		if c, err := c.withDefaults(); err != nil || c.MaxInsert != want {
			t.Errorf("with %d bytes, an insert has %d, want %d: %v", most, c.MaxInsert, want, err)
		}
	}
}

func TestConcurrentConnections(t *testing.T) {
	t.Parallel()
	db := fresh(t)
	must(t, db.Exec(t.Context(), "CREATE TABLE t (w UInt64, n UInt64) ENGINE = MergeTree ORDER BY (w, n)"))
	var wg sync.WaitGroup
	for w := range uint64(8) {
		wg.Go(func() {
			for round := range uint64(5) {
				batch, err := db.PrepareBatch(t.Context(), "INSERT INTO t")
				if err != nil {
					t.Error(err)
					return
				}
				for n := range uint64(1000) {
					if err := batch.Append(w, round*1000+n); err != nil {
						t.Error(err)
					}
				}
				if err := batch.Send(); err != nil {
					t.Error(err)
				}
				var got uint64
				err = db.QueryRow(t.Context(), "SELECT count() FROM t WHERE w = {w:UInt64}", clickhouse.Named("w", w)).Scan(&got)
				if want := (round + 1) * 1000; err != nil || got != want {
					t.Errorf("writer %d sees %d of its %d rows: %v", w, got, want, err)
				}
			}
		})
	}
	wg.Wait()
	if got := one[string](t, db, t.Context(), "SELECT concat(toString(count()), ' ', toString(uniqExact(w, n))) FROM t"); got != "40000 40000" {
		t.Errorf("stored %s", got)
	}
}

func TestStreamedRead(t *testing.T) {
	t.Parallel()
	eachCompression(t, func(t *testing.T, db driver.Conn) {
		rows, err := db.Query(t.Context(), "SELECT number, toString(number), [number, number] FROM numbers(600000)")
		must(t, err)
		var n, a uint64
		var s string
		var list []uint64
		for ; rows.Next(); n++ {
			if err := rows.Scan(&a, &s, &list); err != nil || a != n || s != fmt.Sprint(n) || len(list) != 2 || list[1] != n {
				t.Fatalf("row %d is %d %s %v: %v", n, a, s, list, err)
			}
		}
		must(t, rows.Close())
		if n != 600000 {
			t.Errorf("%d rows", n)
		}
	})
}
