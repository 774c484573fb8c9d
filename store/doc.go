// Package store stores all data except events in Postgres, with one .go file and one .sql file per resource. Only store
// and the packages below it send statements to Postgres. The kernel converts a driver's error to a schema.Error, so
// that database text cannot reach a client. store imports schema and must not import ingest, query or api.
//
// The files of package store itself begin with their subject: content (spaces, pages, change requests, merges, Git,
// search), access (tokens and grants), org (integrations), migrate. Other resources have separate packages. The folders
// below it:
//
//	migrations  the tables: a file for each step; functions and triggers are in functions/
//	queries     the statements, one file a resource; sqlc writes db from them
//	db          generated: the statements as Go functions
//	access      the access rule in SQL
//	postgres    the kernel: pool, transactions, errors, lists and other code that the rooms share
//	apispecs    OpenAPI specifications and their versions
//	audit       the audit log: its tables, triggers and lists
//	eventrows   how many rows the events table should have, and what is missing or doubled
//	clock       what is known of the time, and the guard of deletions by age
//	hooks       webhooks, their deliveries, changes for front ends
//	issues      conversations, their issues and clusters
//	orgs        organizations and their people: members, teams, invites, logins
//	queue       jobs: their turns, lists and retries
//	sites       sites, their structure, looks and readers, erasures of visitors
//	storetest   databases for tests
package store
