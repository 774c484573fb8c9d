package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/jackc/pgx/v5"
	"github.com/segmentio/kafka-go"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest"
	"github.com/octavo-docs/octavo/cmd/engine/enginetest/eventually"
)

// wantRefusal runs a command. It must fail, and a line of its output must contain all the words.
func wantRefusal(t *testing.T, env []string, command string, words ...string) {
	t.Helper()
	cmd := exec.Command(enginetest.Octavo(t), strings.Fields(command)...)
	cmd.Env = append(os.Environ(), "OCTAVO_LISTEN="+enginetest.Address(t), "OCTAVO_ENGINES_DIR="+enginesDir(t))
	cmd.Env = append(cmd.Env, env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	timer := time.AfterFunc(eventually.Patience, func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	output, err := cmd.CombinedOutput()
	if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) || exit.ExitCode() <= 0 {
		t.Errorf("octavo %s: %v, want a refusal\n%s", command, err, output)
		return
	}
	for line := range strings.Lines(string(output)) {
		all := strings.Contains(line, "octavo: error: ")
		for _, word := range words {
			all = all && strings.Contains(line, word)
		}
		if all {
			return
		}
	}
	t.Errorf("octavo %s: no line has %q\n%s", command, words, output)
}

// TestDataDirOfAnotherBaseline checks that every command refuses a data directory of another baseline, before it starts
// an engine.
func TestDataDirOfAnotherBaseline(t *testing.T) {
	t.Parallel()
	for name, files := range map[string]map[string]string{
		"before baselines": {"kafka/log/topics.json": "{}", "postgres/data/PG_VERSION": "18", "engines.json": "{}"},
		"a later one":      {"baseline": "1000\n", "clickhouse/store/uuid": "a"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "data")
			for file, text := range files {
				path := filepath.Join(dir, file)
				err := os.MkdirAll(filepath.Dir(path), 0o700)
				if err == nil {
					err = os.WriteFile(path, []byte(text), 0o600)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			found := func() map[string]string {
				all := map[string]string{}
				err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
					if err != nil || d.IsDir() {
						all[path] = "folder"
						return err
					}
					text, err := os.ReadFile(path)
					all[path] = string(text)
					return err
				})
				if err != nil {
					t.Fatal(err)
				}
				return all
			}
			before := found()
			for _, command := range []string{
				"serve --quickstart", "migrate", "token list", "deadletter list", "engine run --data " + dir,
			} {
				wantRefusal(t, []string{"OCTAVO_DATA_DIR=" + dir}, command, dir, "uses baseline 1:")
			}
			if after := found(); !maps.Equal(before, after) {
				t.Errorf("before %q, after %q", before, after)
			}
		})
	}
}

// tablesOf returns the statements that create the tables of a database.
func tablesOf(t *testing.T, conn driver.Conn) (statements []string) {
	t.Helper()
	const query = `SELECT groupArray(create_table_query)
		FROM (SELECT * FROM system.tables WHERE database = currentDatabase() ORDER BY name)`
	if err := conn.QueryRow(t.Context(), query).Scan(&statements); err != nil {
		t.Fatal(err)
	}
	return statements
}

// foreignTable creates an events table without a baseline.
func foreignTable(t *testing.T, clickHouse string) driver.Conn {
	t.Helper()
	conn, err := openClickHouse(clickHouse, "", 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	const create = "CREATE TABLE events (site String, time DateTime64(3, 'UTC')) ENGINE = MergeTree ORDER BY site"
	if err := conn.Exec(t.Context(), create); err != nil {
		t.Fatal(err)
	}
	return conn
}

// TestEventsTableOfAnotherBaseline checks that commands refuse an events table that has no baseline, and that they
// create no table.
func TestEventsTableOfAnotherBaseline(t *testing.T) {
	t.Parallel()
	clickHouse := enginetest.ClickHouse(t)
	conn := foreignTable(t, clickHouse)
	before := tablesOf(t, conn)
	env := []string{
		"OCTAVO_POSTGRES_URL=" + enginetest.Postgres(t),
		"OCTAVO_CLICKHOUSE_URL=" + clickHouse,
		"OCTAVO_DATA_DIR=" + t.TempDir(),
		"OCTAVO_KAFKA_BROKERS=" + strings.Join(enginetest.Kafka(t), ","),
		"OCTAVO_KAFKA_TOPIC=" + enginetest.Topic(t, 1),
	}
	for _, command := range []string{"serve", "migrate", "repair --yes"} {
		wantRefusal(t, env, command, "the ClickHouse database", "table events has no baseline", "OCTAVO_CLICKHOUSE_URL")
	}
	if after := tablesOf(t, conn); fmt.Sprint(after) != fmt.Sprint(before) {
		t.Errorf("before %q, after %q", before, after)
	}
}

// TestEventsTableOfAnotherBaselineComesLate checks a node that starts without its insights store, and finds a table
// without a baseline later. The node keeps serving, is not ready, and logs the reason once.
func TestEventsTableOfAnotherBaselineComesLate(t *testing.T) {
	t.Parallel()
	there, err := url.Parse(enginetest.ClickHouse(t))
	if err != nil {
		t.Fatal(err)
	}
	conn := foreignTable(t, there.String())
	before := tablesOf(t, conn)
	away := *there
	away.Host = enginetest.Address(t)
	i := newIdle(t,
		"OCTAVO_POSTGRES_URL="+enginetest.Postgres(t), "OCTAVO_CLICKHOUSE_URL="+away.String(),
		"OCTAVO_KAFKA_BROKERS="+strings.Join(enginetest.Kafka(t), ","), "OCTAVO_KAFKA_TOPIC="+enginetest.Topic(t, 1))
	i.startUnready()
	listener, err := net.Listen("tcp", away.Host)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go relay(listener, there.Host)
	const said = "The insights store cannot be used"
	i.until("the refusal", func() error {
		if !strings.Contains(i.output.String(), said) {
			return errors.New("the log does not have the refusal")
		}
		return nil
	})
	if status, names, err := i.failing(); status != 503 || names != "clickhouse sink" || err != nil {
		t.Errorf("readyz: %d, failing %q, %v", status, names, err)
	}
	i.stop()
	text := i.output.String()
	if strings.Count(text, said) != 1 || !strings.Contains(text, "table events has no baseline") {
		t.Errorf("the log is:\n%s", text)
	}
	if after := tablesOf(t, conn); fmt.Sprint(after) != fmt.Sprint(before) {
		t.Errorf("before %q, after %q", before, after)
	}
}

// TestTopicOfAnotherBaseline checks that `serve` refuses a topic with messages of a version without baselines. The
// command must append no message.
func TestTopicOfAnotherBaseline(t *testing.T) {
	t.Parallel()
	brokers, topic := enginetest.Kafka(t), enginetest.Topic(t, 1)
	client := &kafka.Client{Addr: kafka.TCP(brokers...), Timeout: eventually.Patience}
	before := kafka.Record{Value: kafka.NewBytes([]byte("OE\x01" + strings.Repeat("\x00", 40)))}
	eventually.Succeeds(t, "the message", func() error {
		res, err := client.Produce(t.Context(), &kafka.ProduceRequest{
			Topic: topic, RequiredAcks: kafka.RequireAll, Records: kafka.NewRecordReader(before),
		})
		if err == nil {
			err = res.Error
		}
		return err
	})
	wantRefusal(t, []string{
		"OCTAVO_POSTGRES_URL=" + enginetest.Postgres(t),
		"OCTAVO_CLICKHOUSE_URL=" + enginetest.ClickHouse(t),
		"OCTAVO_DATA_DIR=" + t.TempDir(),
		"OCTAVO_KAFKA_BROKERS=" + strings.Join(brokers, ","),
		"OCTAVO_KAFKA_TOPIC=" + topic,
	}, "serve", topic, "its messages have no baseline", "OCTAVO_KAFKA_TOPIC")
	res, err := client.ListOffsets(t.Context(), &kafka.ListOffsetsRequest{
		Topics: map[string][]kafka.OffsetRequest{topic: {kafka.LastOffsetOf(0)}},
	})
	if err != nil || res.Topics[topic][0].LastOffset != 1 {
		t.Errorf("the topic has %+v, %v; want one message", res, err)
	}
}

// TestDatabaseOfAnotherBaseline checks that commands refuse a database with migrations of a version without baselines,
// and create no table.
func TestDatabaseOfAnotherBaseline(t *testing.T) {
	t.Parallel()
	url := enginetest.Postgres(t)
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(t.Context())) })
	if _, err := conn.Exec(t.Context(), `
		create table goose_db_version (version_id bigint, is_applied boolean, id integer, tstamp timestamp);
		insert into goose_db_version values (92, true, 1, now())`); err != nil {
		t.Fatal(err)
	}
	env := []string{
		"OCTAVO_POSTGRES_URL=" + url,
		"OCTAVO_CLICKHOUSE_URL=" + enginetest.ClickHouse(t),
		"OCTAVO_DATA_DIR=" + t.TempDir(),
		"OCTAVO_KAFKA_BROKERS=" + strings.Join(enginetest.Kafka(t), ","),
		"OCTAVO_KAFKA_TOPIC=" + enginetest.Topic(t, 1),
	}
	for _, command := range []string{"serve", "migrate"} {
		wantRefusal(t, env, command,
			"has the data format of baseline 0 and this version needs baseline 1: use an empty database")
	}
	var tables int
	err = conn.QueryRow(t.Context(), `select count(*) from pg_class
			where relnamespace = 'public'::regnamespace and relkind = 'r'`).Scan(&tables)
	if err != nil || tables != 1 {
		t.Errorf("%d tables, %v", tables, err)
	}
}
