// Package enginetest gives tests real engines: each test gets a ClickHouse database, a Kafka topic or a Postgres
// database that no other test uses.
//
// It runs a program with octavo's engine commands. The only other packages of this module that it may import are its
// own sub-packages, so that the tests of all packages may import it. `make test` starts one set of engines for all
// packages (package with), and sets environment variables to the addresses of the engines. Otherwise each test process
// starts the engines that it needs, and these engines end with the process. The folders below it:
//
//	with        runs a command with engines for its tests
//	program     the program with the engine commands only
//	eventually  waits for conditions
//	capture     collects what a process writes
//	cputime     measures processor time
//	brokertest  a broker whose answers have faults
package enginetest
