// Package ingesttest has test helpers for ingest's packages: the events table, logs in memory, and requests.
//
// It imports schema/insights only, so that every package of ingest can use it.
package ingesttest
