// Package fair admits requests to a bounded room so that no party can keep the
// others out: event batches by site, queries by organization and token, the
// memory of request bodies by token.
//
// It imports nothing of this module, so that api, ingest and query share it
// without knowing each other.
package fair
