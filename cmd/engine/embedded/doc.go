// Package embedded runs the embedded engines, Postgres, Kafka and ClickHouse, as supervised child processes. The
// engines listen on loopback and have their data below one directory. Clients connect to an engine by its URL, like to
// any server.
//
// Only the wiring file (cmd/octavo/wire.go) uses it. All other code gets a URL, and does not distinguish an embedded
// engine from a server. The only other packages of this module that it may import are in cmd/engine.
package embedded
