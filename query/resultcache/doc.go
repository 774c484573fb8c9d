// Package resultcache lets equal queries share one result.
//
// A query that comes while an equal one runs waits for its result (singleflight). A query that comes soon after gets
// the cached result (LRU, bounded in bytes and in age). Each caller still waits for a turn of its own, so no caller
// waits behind the share of another. The first caller whose turn comes runs the query; the others give up their places.
//
// cache.go is the door, flight.go is a run that callers share, and lru.go has the cached results.
// The package imports nothing of this module.
package resultcache
