package chserver

import (
	"bytes"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

func p[T any](v T) *T { return &v }

var instant = time.Date(2024, 2, 29, 1, 2, 3, 456_000_000, time.UTC)

const zeroUUID = "00000000-0000-0000-0000-000000000000"

// typeCases has every type that Octavo uses, with values that the test writes and reads back. The values of a case are
// sent in one block.
var typeCases = map[string][]any{
	"String":                               {"", "a", "\n\n", "a\x00\n\n'\\", strings.Repeat("long ", 50_000), "漢字"},
	"LowCardinality(String)":               {"a", "", "a", "b\n\n"},
	"LowCardinality(Nullable(String))":     {p("a"), (*string)(nil), p(""), p("a")},
	"FixedString(4)":                       {"abcd", "\n\n\n\n", "\x00\x01\x02\x03"},
	"UInt8":                                {uint8(0), uint8(10), uint8(255)},
	"UInt16":                               {uint16(2570), uint16(math.MaxUint16)},
	"UInt32":                               {uint32(0x0a0a0a0a), uint32(math.MaxUint32)},
	"UInt64":                               {uint64(0x0a0a0a0a0a0a0a0a), uint64(math.MaxUint64), uint64(0)},
	"Int8":                                 {int8(-128), int8(10)},
	"Int16":                                {int16(math.MinInt16), int16(2570)},
	"Int32":                                {int32(math.MinInt32), int32(7)},
	"Int64":                                {int64(math.MinInt64), int64(7)},
	"Float32":                              {float32(1.5), float32(math.Inf(1))},
	"Float64":                              {1.5, math.Copysign(0, -1), math.MaxFloat64},
	"Bool":                                 {true, false},
	"Date":                                 {time.Date(2024, 2, 29, 0, 0, 0, 0, time.UTC)},
	"Date32":                               {time.Date(1950, 1, 1, 0, 0, 0, 0, time.UTC)},
	"DateTime":                             {instant.Truncate(time.Second)},
	"DateTime('UTC')":                      {instant.Truncate(time.Second)},
	"DateTime64(3, 'UTC')":                 {instant, time.UnixMilli(0).UTC()},
	"UUID":                                 {"61f0c404-5cb3-11e7-907b-a6006ad3dba0", zeroUUID},
	"Nullable(String)":                     {p("x"), (*string)(nil), p("")},
	"Nullable(UInt64)":                     {(*uint64)(nil), p(uint64(5))},
	"Nullable(DateTime64(3, 'UTC'))":       {p(instant), (*time.Time)(nil)},
	"Array(String)":                        {[]string{}, []string{"a", "\n\n"}, []string{""}},
	"Array(UInt64)":                        {[]uint64{1, 2, 3}, []uint64{}},
	"Array(Array(UInt8))":                  {[][]uint8{{1}, {}, {2, 3}}, [][]uint8{}},
	"Array(LowCardinality(String))":        {[]string{"a", "b", "a"}, []string{}},
	"Array(Nullable(String))":              {[]*string{p("a"), nil}, []*string{}},
	"Map(String, String)":                  {map[string]string{"a": "b", "": "\n\n"}, map[string]string{}},
	"Map(String, UInt64)":                  {map[string]uint64{"a": 1}},
	"Map(LowCardinality(String), String)":  {map[string]string{"a": "b"}, map[string]string{}},
	"Tuple(a UInt8, b String)":             {map[string]any{"a": uint8(1), "b": "x"}},
	"Tuple(`a-b` UInt8, c Array(String))":  {map[string]any{"a-b": uint8(1), "c": []string{"x", "y"}}},
	"Tuple(UInt8, DateTime64(3, 'UTC'))":   {[]any{uint8(1), instant}},
	"Enum8('a' = 1, 'it\\'s, (b)' = 2)":    {"a", "it's, (b)"},
	"Enum16('x' = 1000)":                   {"x"},
	"SimpleAggregateFunction(sum, UInt64)": {uint64(5)},
	"SimpleAggregateFunction(anyLast, Nullable(String))": {p("x"), (*string)(nil)},
	"Decimal(9, 2)":   {"1.23"},
	"Decimal(38, 10)": {"-12345678901234567890.0123456789"},
}

func TestTypesRoundTrip(t *testing.T) {
	t.Parallel()
	eachCompression(t, func(t *testing.T, db driver.Conn) {
		n := 0
		for typ, values := range typeCases {
			n++
			table := fmt.Sprintf("t%d", n)
			t.Run(typ, func(t *testing.T) {
				t.Parallel()
				must(t, db.Exec(t.Context(), "CREATE TABLE "+table+" (n UInt64, v "+typ+") ENGINE = MergeTree ORDER BY n"))
				batch, err := db.PrepareBatch(t.Context(), "INSERT INTO "+table)
				must(t, err)
				for i, v := range values {
					must(t, batch.Append(uint64(i), v))
				}
				must(t, batch.Send())
				rows, err := db.Query(t.Context(), "SELECT v FROM "+table+" ORDER BY n")
				must(t, err)
				for i := 0; rows.Next(); i++ {
					kind := reflect.TypeOf(values[i])
					// The cases contain UUIDs and decimals as text, but the driver cannot scan such values into a
					// string.
					if kind.Kind() == reflect.String {
						kind = rows.ColumnTypes()[0].ScanType()
					}
					got := reflect.New(kind)
					must(t, rows.Scan(got.Interface()))
					if !reflect.DeepEqual(got.Elem().Interface(), values[i]) && fmt.Sprint(got.Elem()) != fmt.Sprint(values[i]) {
						t.Errorf("sent %v, got %v", values[i], got.Elem())
					}
				}
				must(t, rows.Close())
				if got := one[uint64](t, db, t.Context(), "SELECT count() FROM "+table); got != uint64(len(values)) {
					t.Errorf("%d rows stored", got)
				}
			})
		}
	})
}

func TestAggregateStates(t *testing.T) {
	t.Parallel()
	db := fresh(t)
	must(t, db.Exec(t.Context(), "CREATE TABLE t (k UInt8, u AggregateFunction(uniq, UInt64)) ENGINE = AggregatingMergeTree ORDER BY k"))
	must(t, db.Exec(t.Context(), "INSERT INTO t SELECT 1, uniqState(number) FROM numbers(10)"))
	if got := one[uint64](t, db, t.Context(), "SELECT uniqMerge(u) FROM t"); got != 10 {
		t.Errorf("merged to %d", got)
	}
	if err := exhaust(t.Context(), db, "SELECT u FROM t"); codeOf(err) != codeUnknownType {
		t.Errorf("a state gave %v", err)
	}
	must(t, db.Ping(t.Context()))
}

func TestInsertForms(t *testing.T) {
	t.Parallel()
	db := fresh(t)
	must(t, db.Exec(t.Context(), "CREATE TABLE `t x` (a UInt64, b String DEFAULT concat('d', toString(a)), `c,\\`)` String, m UInt64 MATERIALIZED a * 2, l UInt64 ALIAS a * 3) ENGINE = MergeTree ORDER BY a"))
	for _, c := range []struct {
		query  string
		values []any
		want   string
	}{
		{"INSERT INTO `t x`", []any{uint64(1), "b", "c"}, "1 b c 2 3"},
		{"INSERT INTO `t x` (a)", []any{uint64(2)}, "2 d2  4 6"},
		{"INSERT INTO `t x` (b, a)", []any{"bb", uint64(3)}, "3 bb  6 9"},
		{"insert into `t x` (`a`, b) values", []any{uint64(4), "v"}, "4 v  8 12"},
		{"INSERT INTO `t x` (a) SETTINGS max_threads = 1", []any{uint64(6)}, "6 d6  12 18"},
	} {
		t.Run(c.query, func(t *testing.T) { // not parallel, so that the checks below run after all inserts
			batch, err := db.PrepareBatch(t.Context(), c.query)
			must(t, err)
			must(t, batch.Append(c.values...))
			must(t, batch.Send())
			a := strings.Fields(c.want)[0]
			if got := one[string](t, db, t.Context(), "SELECT concatWithSeparator(' ', toString(a), b, `c,\\`)`, toString(m), toString(l)) FROM `t x` WHERE a = "+a); got != c.want {
				t.Errorf("stored %q, want %q", got, c.want)
			}
		})
	}
	if _, err := db.PrepareBatch(t.Context(), "INSERT INTO `t x` (a, nosuch)"); codeOf(err) != codeNoSuchColumn {
		t.Errorf("an unknown column gave %v", err)
	}
	batch, err := db.PrepareBatch(t.Context(), "INSERT INTO `t x`")
	must(t, err)
	must(t, batch.Close())
	batch, err = db.PrepareBatch(t.Context(), "INSERT INTO `t x`")
	must(t, err)
	must(t, batch.Abort())
	must(t, db.Ping(t.Context()))
}

func TestInsertOfSeveralBlocksIsOne(t *testing.T) {
	t.Parallel()
	eachCompression(t, func(t *testing.T, db driver.Conn) {
		must(t, db.Exec(t.Context(), "CREATE TABLE t (a UInt64, s String, CONSTRAINT small CHECK a < 1000000) ENGINE = MergeTree ORDER BY a"))
		send := func(bad bool) error {
			batch, err := db.PrepareBatch(t.Context(), "INSERT INTO t")
			must(t, err)
			for i := range uint64(30_000) {
				if i > 0 && i%10_000 == 0 {
					must(t, batch.Flush())
				}
				if bad && i == 25_000 {
					i = 1_000_000
				}
				must(t, batch.Append(i, "\n\n"))
			}
			return batch.Send()
		}
		if err := send(true); codeOf(err) != 469 || strings.Contains(err.Error(), "/proc/") {
			t.Errorf("a broken constraint gave %v", err)
		}
		if got := one[uint64](t, db, t.Context(), "SELECT count() FROM t"); got != 0 {
			t.Errorf("%d rows of a refused batch are stored", got)
		}
		must(t, send(false))
		if got := one[string](t, db, t.Context(), "SELECT concat(toString(count()), ' ', toString(uniqExact(_part))) FROM t"); got != "30000 1" {
			t.Errorf("rows and parts: %s", got)
		}
	})
}

func TestInsertDeduplication(t *testing.T) {
	t.Parallel()
	db := fresh(t)
	must(t, db.Exec(t.Context(), "CREATE TABLE t (a UInt64) ENGINE = MergeTree ORDER BY a SETTINGS non_replicated_deduplication_window = 100"))
	send := func(v uint64, settings clickhouse.Settings) uint64 {
		batch, err := db.PrepareBatch(clickhouse.Context(t.Context(), clickhouse.WithSettings(settings)), "INSERT INTO t")
		must(t, err)
		must(t, batch.Append(v))
		must(t, batch.Send())
		return one[uint64](t, db, t.Context(), "SELECT count() FROM t")
	}
	for i, c := range []struct {
		v        uint64
		settings clickhouse.Settings
		want     uint64
	}{
		{1, clickhouse.Settings{"insert_deduplication_token": "x"}, 1},
		{2, clickhouse.Settings{"insert_deduplication_token": "x"}, 1},
		{2, clickhouse.Settings{"insert_deduplication_token": "y"}, 2},
		{3, nil, 3},
		{3, nil, 3}, // the same rows again: the engine drops a block with a known hash
		{3, clickhouse.Settings{"insert_deduplicate": 0}, 4},
		{3, clickhouse.Settings{"deduplicate_insert": "disable"}, 5},
		{3, clickhouse.Settings{"deduplicate_insert": "enable"}, 5},
		{2, clickhouse.Settings{"deduplicate_insert": "disable", "insert_deduplication_token": "y"}, 6},
		{4, nil, 7},
	} {
		if got := send(c.v, c.settings); got != c.want { // each step depends on the earlier inserts
			t.Fatalf("step %d: %d rows, want %d", i, got, c.want)
		}
	}
}

func TestBigInsert(t *testing.T) {
	t.Parallel()
	eachCompression(t, func(t *testing.T, db driver.Conn) {
		must(t, db.Exec(t.Context(), "CREATE TABLE t (a UInt64, s String, l LowCardinality(String), f FixedString(2)) ENGINE = MergeTree ORDER BY a"))
		const rows = 300_000
		var wrote uint64
		ctx := clickhouse.Context(t.Context(), clickhouse.WithProgress(func(p *clickhouse.Progress) { wrote += p.WroteRows }))
		batch, err := db.PrepareBatch(ctx, "INSERT INTO t")
		must(t, err)
		a, s, l, f := make([]uint64, rows), make([]string, rows), make([]string, rows), make([]string, rows)
		for i := range rows {
			a[i], s[i], l[i], f[i] = uint64(i), fmt.Sprint("\n\n", i), fmt.Sprint(i%1000), "\n\n"
		}
		for i, column := range []any{a, s, l, f} {
			must(t, batch.Column(i).Append(column))
		}
		must(t, batch.Send())
		want := fmt.Sprintf("%d %d %d", rows, rows, uint64(rows)*(rows-1)/2)
		if got := one[string](t, db, t.Context(), "SELECT concatWithSeparator(' ', toString(count()), toString(countIf(s = '\n\n' || toString(a) AND l = toString(a % 1000) AND f = '\n\n')), toString(sum(a))) FROM t"); got != want {
			t.Errorf("stored %s, want %s", got, want)
		}
		if wrote != rows {
			t.Errorf("progress reports %d rows written", wrote)
		}
	})
}

func TestRowsOfNewlines(t *testing.T) {
	t.Parallel()
	eachCompression(t, func(t *testing.T, db driver.Conn) {
		must(t, db.Exec(t.Context(), "CREATE TABLE t (n UInt64, a UInt16, s String) ENGINE = MergeTree ORDER BY n"))
		batch, err := db.PrepareBatch(t.Context(), "INSERT INTO t")
		must(t, err)
		for i := range uint64(1000) {
			must(t, batch.Append(i, uint16(0x0a0a), string(bytes.Repeat([]byte{10}, int(i%7)))))
		}
		must(t, batch.Send())
		if got := one[string](t, db, t.Context(), "SELECT concat(toString(count()), ' ', toString(countIf(a = 2570 AND length(s) = n % 7))) FROM t"); got != "1000 1000" {
			t.Errorf("stored %s", got)
		}
	})
}

// TestInsertWithoutLowCardinality turns low_cardinality_allow_in_native_format off, for a statement or a session. The
// server then requests plain values and stores them with the table's types. Otherwise the server requests values of the
// table's types.
func TestInsertWithoutLowCardinality(t *testing.T) {
	t.Parallel()
	const (
		columns = "s LowCardinality(String), n LowCardinality(Nullable(String)), a Array(LowCardinality(String)), m Map(LowCardinality(String), Array(LowCardinality(String))), " +
			"t Tuple(`x-y` LowCardinality(String), y UInt8), e Enum8('LowCardinality(String)' = 1), d DateTime64(3, 'UTC')"
		own   = "LowCardinality(String); LowCardinality(Nullable(String)); Array(LowCardinality(String)); Map(LowCardinality(String), Array(LowCardinality(String))); Tuple(`x-y` LowCardinality(String), y UInt8); Enum8('LowCardinality(String)' = 1); DateTime64(3, 'UTC')"
		plain = "String; Nullable(String); Array(String); Map(String, Array(String)); Tuple(`x-y` String, y UInt8); Enum8('LowCardinality(String)' = 1); DateTime64(3, 'UTC')"
	)
	oneLine := strings.NewReplacer("(\n    ", "(", ",\n    ", ", ") // the engine breaks lines in tuple types
	off := clickhouse.Settings{"low_cardinality_allow_in_native_format": 0}
	for name, c := range map[string]struct {
		set      string
		settings clickhouse.Settings
		clause   string
		want     string
	}{
		"usual":               {"", nil, "", own},
		"on":                  {"", clickhouse.Settings{"low_cardinality_allow_in_native_format": 1}, "", own},
		"off for the query":   {"", off, "", plain},
		"off in its text":     {"", nil, " SETTINGS low_cardinality_allow_in_native_format = false", plain},
		"off, on in its text": {"", off, " SETTINGS low_cardinality_allow_in_native_format = 1", own},
		"off in the session":  {"SET low_cardinality_allow_in_native_format = 0", nil, "", plain},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := fresh(t, single)
			must(t, db.Exec(t.Context(), "CREATE TABLE t ("+columns+") ENGINE = MergeTree ORDER BY s"))
			if c.set != "" {
				must(t, db.Exec(t.Context(), c.set))
			}
			batch, err := db.PrepareBatch(clickhouse.Context(t.Context(), clickhouse.WithSettings(c.settings)), "INSERT INTO t"+c.clause)
			must(t, err)
			var types []string
			for _, column := range batch.Columns() {
				types = append(types, string(column.Type()))
			}
			if got := oneLine.Replace(strings.Join(types, "; ")); got != c.want {
				t.Errorf("the client is asked for %s, want %s", got, c.want)
			}
			for _, s := range []string{"a", "", "a\n\n"} {
				must(t, batch.Append(s, p(s), []string{s, "b"}, map[string][]string{s: {s}}, map[string]any{"x-y": s, "y": uint8(1)}, "LowCardinality(String)", instant))
			}
			must(t, batch.Send())
			const right = "SELECT countIf(n = s AND a = [s, 'b'] AND m = map(s, [s]) AND t.1 = s AND e = 1 AND d = toDateTime64('2024-02-29 01:02:03.456', 3, 'UTC')) FROM t WHERE s IN ('a', '', 'a\n\n')"
			if got := one[uint64](t, db, t.Context(), right); got != 3 {
				t.Errorf("%d of 3 rows have the values that were sent", got)
			}
			if got := one[string](t, db, t.Context(), "SELECT arrayStringConcat(groupArray(type), '; ') FROM system.columns WHERE database = currentDatabase() AND table = 't'"); oneLine.Replace(got) != own {
				t.Errorf("the table has %s", got)
			}
		})
	}
}
