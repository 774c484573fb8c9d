// Package fair admits requests to a limited resource, so that no party can block other parties. It is used for three
// resources: room for event batches (by site), for queries (by organization and token), and for request bodies (by
// token).
//
// It must not import any other package of this module, so that api, ingest and query can share it without importing
// each other.
package fair
