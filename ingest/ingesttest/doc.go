// Package ingesttest has test helpers for the packages in ingest: the events table, logs in memory, and requests.
//
// It imports only schema/insights, so that every package of ingest can use it.
package ingesttest
