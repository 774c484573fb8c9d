// Package eventgen makes up believable visitor events of a documentation site
// as JSON of the published contract: the same seed gives the same bytes.
//
// It knows the contract only. It must not import ingest, query, store, api or
// cmd, so that what it sends stays independent of how events are read.
package eventgen
