// Package store stores all data except events in Postgres, with one .go file and one .sql file per resource. Only store
// and the packages below it send statements to Postgres. Package store/postgres converts errors of the driver to a
// schema.Error, so that database text cannot reach a client. store imports schema and must not import ingest, query or
// api.
//
// The files of package store itself begin with their subject: content (spaces, pages, change requests, merges, Git,
// search), access (tokens and grants), org (integrations), migrate. Other resources have separate packages. The folders
// below store:
//
//	migrations  creates the tables: a file for each step; functions and triggers are in functions/
//	queries     has the statements, a file for each resource; sqlc generates db from them
//	db          has the statements as Go functions; it is generated
//	access      has the access rule in SQL
//	postgres    has the code that all packages share: pool, transactions, errors, lists
//	apispecs    stores OpenAPI specifications and their versions
//	audit       is the audit log: its tables, triggers and lists
//	eventrows   counts the rows that the events table should have, and which rows are missing or doubled
//	clock       stores the latest known time, and stops deletions by age while Postgres's clock is in doubt
//	hooks       stores webhooks, their deliveries, and changes for front ends
//	issues      stores conversations, their issues and clusters
//	orgs        stores organizations and their people: members, teams, invites, logins
//	queue       is the queue of jobs: their turns, lists and retries
//	sites       stores sites: their structure, customization and readers, and erasures of visitors
//	storetest   creates databases for tests
package store
