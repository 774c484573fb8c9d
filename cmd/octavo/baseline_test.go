package main

import (
	"context"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest"
)

// TestAnotherBaselineIsRefused: commands that migrate end with one sentence if Postgres has the data of another baseline.
func TestAnotherBaselineIsRefused(t *testing.T) {
	t.Parallel()
	url := enginetest.Postgres(t)
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(t.Context())) })
	// What matters of a database from before the baseline: a migration with a number.
	if _, err := conn.Exec(t.Context(), `create table goose_db_version (version_id bigint, is_applied boolean, id integer, tstamp timestamp);
		insert into goose_db_version values (92, true, 1, now())`); err != nil {
		t.Fatal(err)
	}
	env := slices.Concat(os.Environ(), []string{"OCTAVO_POSTGRES_URL=" + url, "OCTAVO_CLICKHOUSE_URL=" + enginetest.ClickHouse(t),
		"OCTAVO_KAFKA_BROKERS=" + strings.Join(enginetest.Kafka(t), ","), "OCTAVO_KAFKA_TOPIC=" + enginetest.Topic(t, 1)})
	for _, command := range []string{"migrate", "serve"} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			cmd := exec.CommandContext(ctx, binary(t), command)
			cmd.Env = slices.Concat(env, []string{"OCTAVO_DATA_DIR=" + t.TempDir(), "OCTAVO_LISTEN=" + enginetest.Address(t)})
			output, err := cmd.CombinedOutput()
			const want = `has the data format of baseline 0 and this version needs baseline 1: use an empty database`
			if err == nil || strings.Count(string(output), want) != 1 {
				t.Errorf("%v:\n%s", err, output)
			}
		})
	}
	t.Cleanup(func() {
		var tables int
		err := conn.QueryRow(context.WithoutCancel(t.Context()), "select count(*) from pg_class where relnamespace = 'public'::regnamespace").Scan(&tables)
		if err != nil || tables != 1 {
			t.Errorf("%d tables, %v", tables, err)
		}
	})
}
