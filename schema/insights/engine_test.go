package insights_test

import (
	"context"
	"strings"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest"
	"github.com/octavo-docs/octavo/schema/insights"
)

func open(t *testing.T) driver.Conn {
	t.Helper()
	options, err := clickhouse.ParseDSN(enginetest.ClickHouse(t))
	if err != nil {
		t.Fatal(err)
	}
	conn, err := clickhouse.Open(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

func run(t *testing.T, conn driver.Conn, statements ...string) {
	t.Helper()
	for _, s := range statements {
		if err := conn.Exec(context.Background(), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

// layout returns the table's columns as reported by the server.
func layout(t *testing.T, conn driver.Conn) (types map[string]string, codecs map[string]string) {
	t.Helper()
	rows, err := conn.Query(context.Background(),
		"SELECT name, type, compression_codec FROM system.columns WHERE database = currentDatabase() AND table = 'events'")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	types, codecs = map[string]string{}, map[string]string{}
	for rows.Next() {
		var name, typ, codec string
		if err := rows.Scan(&name, &typ, &codec); err != nil {
			t.Fatal(err)
		}
		types[name], codecs[name] = typ, codec
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return types, codecs
}

// TestCreateIsRepeatable creates the table twice, and checks that no upgrade is then needed.
func TestCreateIsRepeatable(t *testing.T) {
	t.Parallel()
	conn := open(t)
	for range 2 {
		run(t, conn, insights.CreateStatements(insights.Topology{})...)
	}
	types, _ := layout(t, conn)
	if steps := insights.UpgradeStatements(insights.Topology{}, types, nil); len(steps) != 0 {
		t.Errorf("a new table needs %q", steps)
	}
	if steps := insights.SettingStatements(insights.Topology{}, engine(t, conn)); len(steps) != 0 {
		t.Errorf("a new table needs %q", steps)
	}
}

func engine(t *testing.T, conn driver.Conn) (full string) {
	t.Helper()
	if err := conn.QueryRow(context.Background(), "SELECT engine_full FROM system.tables WHERE database = currentDatabase() AND name = 'events'").Scan(&full); err != nil {
		t.Fatal(err)
	}
	return full
}

// TestUpgradeSettings: a table that was created without a deduplication window drops repeated inserts after the
// upgrade. A second upgrade has no statements.
func TestUpgradeSettings(t *testing.T) {
	t.Parallel()
	conn := open(t)
	create := insights.CreateStatements(insights.Topology{})[0]
	run(t, conn, strings.Replace(create, "non_replicated_deduplication_window = 100000", "non_replicated_deduplication_window = 0", 1))
	insert := "INSERT INTO events (site, time) SETTINGS insert_deduplication_token = 'token', async_insert = 0 VALUES ('s', '2026-01-01 00:00:00')"
	count := func() (n uint64) {
		t.Helper()
		run(t, conn, insert)
		if err := conn.QueryRow(context.Background(), "SELECT count() FROM events").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	if first, second := count(), count(); first != 1 || second != 2 {
		t.Fatalf("%d and %d rows without a window", first, second)
	}
	run(t, conn, insights.SettingStatements(insights.Topology{}, engine(t, conn))...)
	if first, second := count(), count(); first != 3 || second != 3 {
		t.Errorf("%d and %d rows with a window", first, second)
	}
	if again := insights.SettingStatements(insights.Topology{}, engine(t, conn)); len(again) != 0 {
		t.Errorf("the second run needs %q", again)
	}
}

// TestUpgrade upgrades older tables, which have fewer columns and words, to the current table. The rows stay, and a
// second upgrade has no statements.
func TestUpgrade(t *testing.T) {
	t.Parallel()
	for name, old := range map[string]string{
		"few columns": `(site String CODEC(ZSTD(3)), log_partition UInt16, log_offset UInt64, log_index UInt16,
			time DateTime64(3,'UTC') CODEC(Delta, ZSTD(1)), visitor UInt64, session UInt64, url String)`,
		"fewer words": strings.NewReplacer(
			", 'mcp_request' = 19, 'rss_request' = 20", "", ", 'server' = 3, 'mcp' = 4", "",
			"    utm_content String CODEC(ZSTD(3)),\n", "", "claims Map(String, String) CODEC(ZSTD(3))", "claims Map(String, String)",
			visitsOf(body(insights.CreateStatements(insights.Topology{})[0])), "PROJECTION visits_00000000 (SELECT site, display_context, count() GROUP BY site, display_context)",
		).Replace(body(insights.CreateStatements(insights.Topology{})[0])),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conn := open(t)
			run(t, conn,
				"CREATE TABLE events "+old+" ENGINE = MergeTree PARTITION BY toYYYYMM(time) PRIMARY KEY (site, toStartOfHour(time)) ORDER BY (site, toStartOfHour(time), visitor, session, time)",
				"INSERT INTO events (site, time, visitor, url) VALUES ('s', '2026-01-01 00:00:00', 7, 'https://a.example/')")
			types, _ := layout(t, conn)
			var visits []string
			if err := conn.QueryRow(t.Context(), "SELECT "+insights.VisitsOf+" FROM system.tables WHERE database = currentDatabase() AND name = 'events'").Scan(&visits); err != nil {
				t.Fatal(err)
			}
			steps := insights.UpgradeStatements(insights.Topology{}, types, visits)
			if len(steps) == 0 {
				t.Fatal("nothing to do")
			}
			run(t, conn, steps...)
			types, _ = layout(t, conn)
			if again := insights.UpgradeStatements(insights.Topology{}, types, nil); len(again) != 0 {
				t.Errorf("the second run needs %q", again)
			}
			var kept uint64
			const old = "SELECT count() FROM events WHERE visitor = 7 AND type = '' AND isNaN(latitude) " +
				"AND claims = map() AND door = 'api' AND event_key = '' " +
				"AND search_results = -1 AND engaged_seconds = -1 AND agent_class = ''"
			if err := conn.QueryRow(context.Background(), old).Scan(&kept); err != nil || kept != 1 {
				t.Errorf("%d rows kept, %v", kept, err)
			}
		})
	}
}

// body returns the parenthesized part of a CREATE TABLE, with its parentheses.
func body(create string) string {
	return create[strings.Index(create, "("):strings.Index(create, "\nENGINE")]
}

// visitsOf returns the definition of the projection of visits from the body of a CREATE TABLE.
func visitsOf(body string) string {
	return strings.TrimSuffix(body[strings.Index(body, "PROJECTION visits_"):], "\n)")
}
