// Package embedded runs the embedded engines, Postgres, Kafka and ClickHouse, as supervised child processes. They
// listen on loopback, keep their data below one directory, and are reached by URL like any server.
//
// Only the wiring file (cmd/octavo/wire.go) uses it: everything else gets a URL and cannot tell an embedded engine from
// a server. Of this module it may import only cmd/engine/….
package embedded
