package enginetest

import (
	"fmt"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2"
)

// ClickHouse returns the URL of a new database, which is dropped when the test ends.
func ClickHouse(t testing.TB) string {
	t.Helper()
	base, err := clickHouseURL()
	require(t, err)
	name := unique("test_")
	if err := execClickHouse(base, "CREATE DATABASE "+name); err != nil {
		t.Fatalf("cannot create a ClickHouse database: %v", err)
	}
	t.Cleanup(func() {
		if err := execClickHouse(base, "DROP DATABASE IF EXISTS "+name); err != nil {
			t.Errorf("cannot drop the test's ClickHouse database: %v", err)
		}
	})
	fresh, err := withDatabase(base, name)
	require(t, err)
	return fresh
}

func execClickHouse(url, statement string) error {
	options, err := clickhouse.ParseDSN(url)
	if err != nil {
		return fmt.Errorf("cannot read the ClickHouse URL: %w", err)
	}
	conn, err := clickhouse.Open(options)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	ctx, cancel := step()
	defer cancel()
	return conn.Exec(ctx, statement)
}
