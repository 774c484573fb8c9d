// Package fair admits requests to a limited resource, so that no party can block the others. It shares three resources:
// event batches by site, queries by organization and token, and the memory of request bodies by token.
//
// It must not import any package of this module, so that api, ingest and query
// can share it without importing each other.
package fair
