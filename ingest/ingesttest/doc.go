// Package ingesttest has helpers for the tests of ingest's packages: the events
// table, logs in memory, and requests.
//
// It imports schema/insights only, so that every package of ingest can use it.
package ingesttest
