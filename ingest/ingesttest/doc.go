// Package ingesttest has what the tests of ingest's packages share: the events
// table, logs in memory, and requests.
//
// It imports schema/insights only, so that every package of ingest can use it.
package ingesttest
