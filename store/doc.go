// Package store keeps everything that is not an event in Postgres: one .go file and one .sql file per resource. It is the
// only package that speaks to Postgres, and the one place where a driver's error becomes a schema.Error, so that database
// text cannot reach a client. It imports schema and must not import ingest, query or api: those do not know each other.
package store
