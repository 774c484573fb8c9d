package enginetest

import (
	"errors"
	"os"
	"testing"
)

// The environment by which one set of engines is shared.
const (
	EnvClickHouse = "OCTAVO_TEST_CLICKHOUSE_URL"
	EnvKafka      = "OCTAVO_TEST_KAFKA_BROKERS"
	EnvPostgres   = "OCTAVO_TEST_POSTGRES_URL"
	// EnvRequire turns the skip of a test without engines into its failure: CI must not be green by skipping.
	EnvRequire = "OCTAVO_TEST_REQUIRE_ENGINES"
	// EnvBinary is a program with octavo's engine commands, octavo itself for one; without it one is built from this module.
	EnvBinary = "OCTAVO_TEST_BINARY"
	// EnvRun tells runs apart that share a Postgres, so that a template of an earlier run is not used again.
	EnvRun = "OCTAVO_TEST_RUN"
)

// errMissing means that an engine package is not installed; any other failure is one of the test.
var errMissing = errors.New("engine package missing")

// require ends the test if there is no engine.
func require(t testing.TB, err error) {
	t.Helper()
	if err == nil {
		return
	}
	if errors.Is(err, errMissing) && os.Getenv(EnvRequire) == "" {
		t.Skipf("needs an engine: run `make engines`: %v", err)
	}
	t.Fatalf("cannot get an engine: %v", err)
}
