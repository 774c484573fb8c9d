// Package schema defines the resources of the API, one file for each type, and the errors, ids, roles and page tokens that
// they share. It is the vocabulary of the other packages: store, ingest, query and api all import it, so it does no I/O and
// imports nothing of this module.
package schema
