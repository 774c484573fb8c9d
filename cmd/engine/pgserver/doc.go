// Package pgserver prepares the embedded Postgres: a data directory made once, its passwords, its settings, and the command that runs
// it as a user that Postgres accepts.
//
// It keeps no process alive (package supervise does) and knows no table. Of this module it imports nothing.
package pgserver
