// Package fair admits requests to a bounded room so that no party can keep the
// others out: event batches by site, queries by organization and token.
//
// It imports nothing of this module, so that ingest and query share it without
// knowing each other.
package fair
