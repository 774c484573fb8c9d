package enginetest

import (
	"errors"
	"os"
	"testing"
)

// With these environment variables, test processes share one set of engines.
const (
	EnvClickHouse = "OCTAVO_TEST_CLICKHOUSE_URL"
	EnvKafka      = "OCTAVO_TEST_KAFKA_BROKERS"
	EnvPostgres   = "OCTAVO_TEST_POSTGRES_URL"
	// EnvRequire makes a test without engines fail instead of being skipped. CI must not pass by skipping tests.
	EnvRequire = "OCTAVO_TEST_REQUIRE_ENGINES"
	// EnvBinary is a program with octavo's engine commands, such as octavo itself. Without it, the tests build such a
	// program from this module.
	EnvBinary = "OCTAVO_TEST_BINARY"
	// EnvRun identifies a test run, so that runs that share a Postgres do not use each other's templates.
	EnvRun = "OCTAVO_TEST_RUN"
)

// errMissing means that an engine's package is not installed. With any other error of starting an engine, the test
// fails.
var errMissing = errors.New("engine package missing")

// require ends a test if err, the error of starting an engine, is not nil. It calls Missing if the engine's package is
// not installed.
func require(t testing.TB, err error) {
	t.Helper()
	if errors.Is(err, errMissing) {
		Missing(t, err)
	}
	if err != nil {
		t.Fatalf("cannot get an engine: %v", err)
	}
}

// Missing ends a test for which a program or a package is not installed. If the environment variable EnvRequire is set,
// the test fails. Otherwise it is skipped, for example in a plain `go test` in a fresh clone. `make test` and `make
// test-all` install all programs and packages, and run the tests through the command enginetest/with. This command sets
// EnvRequire, so that CI skips no test.
func Missing(t testing.TB, err error) {
	t.Helper()
	if os.Getenv(EnvRequire) == "" {
		t.Skipf("needs something that `make test` installs: %v", err)
	}
	t.Fatalf("%s is set, but something is not installed: %v", EnvRequire, err)
}
