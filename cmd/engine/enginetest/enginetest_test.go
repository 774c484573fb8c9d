package enginetest_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/jackc/pgx/v5"
	"github.com/octavo-docs/octavo/cmd/engine/enginetest"
	"github.com/segmentio/kafka-go"
)

func TestPostgresIsFreshForEachTest(t *testing.T) {
	t.Parallel()
	for i := range 3 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			conn := connect(t, enginetest.Postgres(t))
			if _, err := conn.Exec(t.Context(), "CREATE TABLE same_name (n int)"); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func TestPostgresSortsByCodePointInUTF8AndUTC(t *testing.T) {
	t.Parallel()
	conn := connect(t, enginetest.Postgres(t))
	var encoding, zone, sorted string
	err := conn.QueryRow(t.Context(), `SELECT current_setting('server_encoding'), current_setting('TimeZone'),
		(SELECT string_agg(c, '' ORDER BY c) FROM unnest(ARRAY['b', 'é', 'A', 'a', 'B']) c)`).Scan(&encoding, &zone, &sorted)
	if err != nil {
		t.Fatal(err)
	}
	if encoding != "UTF8" || zone != "UTC" || sorted != "ABabé" {
		t.Errorf("got encoding %s, time zone %s, order %s", encoding, zone, sorted)
	}
}

func TestPostgresTemplateMigratesOnce(t *testing.T) {
	t.Parallel()
	var migrated atomic.Int32
	const note = `it's "noted"`
	migrate := func(url string) (string, error) {
		migrated.Add(1)
		ctx := context.Background()
		conn, err := pgx.Connect(ctx, url)
		if err != nil {
			return "", err
		}
		_, err = conn.Exec(ctx, "CREATE TABLE made (n int); INSERT INTO made VALUES (7)")
		return note, errors.Join(err, conn.Close(ctx))
	}
	key := t.Name() + time.Now().String()
	t.Run("clones", func(t *testing.T) {
		for i := range 4 {
			t.Run(fmt.Sprint(i), func(t *testing.T) {
				t.Parallel()
				url, got := enginetest.PostgresTemplate(t, key, migrate)
				if got != note {
					t.Errorf("the note is %q", got)
				}
				conn := connect(t, url)
				// Each table's name must be unique in a database. So in a shared database the second test would fail.
				if _, err := conn.Exec(t.Context(), "CREATE TABLE mine AS SELECT n FROM made"); err != nil {
					t.Error(err)
				}
			})
		}
	})
	if migrated.Load() != 1 {
		t.Errorf("migrated %d times", migrated.Load())
	}
}

func TestTopic(t *testing.T) {
	t.Parallel()
	topic := enginetest.Topic(t, 3)
	client := &kafka.Client{Addr: kafka.TCP(enginetest.Kafka(t)...)}
	metadata, err := client.Metadata(t.Context(), &kafka.MetadataRequest{Topics: []string{topic}})
	if err != nil {
		t.Fatal(err)
	}
	if got := len(metadata.Topics[0].Partitions); got != 3 {
		t.Errorf("topic has %d partitions", got)
	}
}

func connect(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

func TestClickHouseIsFreshForEachTest(t *testing.T) {
	t.Parallel()
	for i := range 2 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			options, err := clickhouse.ParseDSN(enginetest.ClickHouse(t))
			if err != nil {
				t.Fatal(err)
			}
			conn, err := clickhouse.Open(options)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = conn.Close() }()
			for _, statement := range []string{
				"CREATE TABLE same_name (n UInt8) ENGINE = MergeTree ORDER BY n", "INSERT INTO same_name VALUES (1)",
			} {
				if err := conn.Exec(t.Context(), statement); err != nil {
					t.Fatal(err)
				}
			}
			var database string
			var rows uint64
			if err := conn.QueryRow(t.Context(), "SELECT currentDatabase(), count() FROM same_name").Scan(&database, &rows); err != nil {
				t.Fatal(err)
			}
			if database != options.Auth.Database || rows != 1 {
				t.Errorf("got %s with %d rows", database, rows)
			}
		})
	}
}

const envMissing = "ENGINETEST_TEST_MISSING"

// TestMissingPackages runs a test in a separate process without engine packages. The test is skipped, or fails if
// engines are required.
func TestMissingPackages(t *testing.T) {
	if os.Getenv(envMissing) != "" {
		enginetest.Postgres(t)
		t.Fatal("got a Postgres")
	}
	t.Parallel()
	for _, c := range []struct {
		require, want string
		fails         bool
	}{{"", "--- SKIP", false}, {"1", "--- FAIL", true}} {
		cmd := exec.Command(os.Args[0], "-test.run", "^TestMissingPackages$", "-test.v")
		cmd.Env = append(os.Environ(), envMissing+"=1", "OCTAVO_ENGINES_DIR="+t.TempDir(), enginetest.EnvPostgres+"=",
			enginetest.EnvRequire+"="+c.require, enginetest.EnvBinary+"="+enginetest.Binary(t))
		output, err := cmd.CombinedOutput()
		if (err != nil) != c.fails || !strings.Contains(string(output), c.want) || !strings.Contains(string(output), "make engines") {
			t.Errorf("required %q: %v\n%s", c.require, err, output)
		}
	}
}

// TestAddressesAreReserved checks that no two callers get the same address, even if no server listens on it.
func TestAddressesAreReserved(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for range 500 { // without reservations, about twelve pairs among 500 addresses with 10,000 ports would be equal
		address := enginetest.Address(t)
		if seen[address] {
			t.Fatalf("%s was given twice", address)
		}
		seen[address] = true
	}
}
