// Package pgserver prepares the embedded Postgres: it creates the data directory once, keeps its passwords and
// settings, and builds the command that runs it as a user that Postgres accepts.
//
// It does not keep the process alive (package supervise does) and knows no tables. It must not import any other package
// of this module.
package pgserver
