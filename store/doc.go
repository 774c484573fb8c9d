// Package store keeps everything that is not an event in Postgres: one .go file and one .sql file per resource. It is the
// only package that speaks to Postgres, and the one place where a driver's error becomes a schema.Error, so that database
// text cannot reach a client. It imports schema and must not import ingest, query or api: those do not know each other.
// The folders below it:
//
//	migrations  the tables: a file for each step; functions and triggers are in functions/
//	queries     the statements, one file a resource; sqlc writes db from them
//	db          generated: the statements as Go functions
//	access      the access rule in SQL
//	postgres    the kernel: pool, transactions, errors, lists and all that the rooms share
//	audit       the audit log: its tables, triggers and lists
//	storetest   databases for tests
package store
