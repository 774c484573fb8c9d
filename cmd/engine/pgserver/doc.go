// Package pgserver prepares the embedded Postgres. It creates the data directory once, and manages its passwords and
// settings. It builds the command that runs Postgres as a user that Postgres accepts.
//
// Package supervise keeps the process alive. Package pgserver has no code for tables. It must not import another
// package of this module.
package pgserver
