// Package ingesttest has what the tests of ingest's packages share: a broker in
// the test's process, logs in memory, and requests.
//
// It imports schema/insights only, so that every package of ingest can use it.
package ingesttest
