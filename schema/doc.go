// Package schema says what the things of the API are: one file per resource type, and the errors, ids, roles and page
// tokens that every resource shares. It is the vocabulary of the other packages, so it does no I/O and imports nothing of
// this module; store, ingest, query and api all import it.
package schema
