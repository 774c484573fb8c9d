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
	if errors.Is(err, errMissing) {
		Missing(t, err)
	}
	if err != nil {
		t.Fatalf("cannot get an engine: %v", err)
	}
}

// Missing ends a test for which something is not installed. A plain `go test` in a fresh clone skips it. `make test` and `make test-all`,
// which is what CI runs, install everything and run the tests by package with, which sets EnvRequire: nothing is skipped there.
func Missing(t testing.TB, err error) {
	t.Helper()
	if os.Getenv(EnvRequire) == "" {
		t.Skipf("needs what `make test` installs and then requires: %v", err)
	}
	t.Fatalf("%s is set, and something is missing: %v", EnvRequire, err)
}
