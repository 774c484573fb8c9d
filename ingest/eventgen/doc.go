// Package eventgen generates realistic visitor events of a documentation site, as JSON of the published contract. The
// same seed gives the same bytes.
//
// It depends only on the contract. It must not import ingest, query, store, api or cmd, so that its events stay
// independent of the code that reads events.
package eventgen
