// Package embedded runs the product's own engines, Postgres, Kafka and ClickHouse, as supervised children on loopback below one data
// directory, and says at which URLs they answer.
//
// Only the wiring file asks it anything: everything else gets a URL and cannot tell an embedded engine from a server. Of this module it
// imports only cmd/engine/….
package embedded
