// Package enginetest gives tests real engines: a ClickHouse database, a Kafka topic or a Postgres database of their own.
//
// It runs a program with octavo's engine commands and imports nothing of this module, so that the tests of any package may import it. `make test` starts one
// set of engines for all packages (package with) and names it in the environment; without that, each test process starts what it needs,
// which ends with it.
package enginetest
