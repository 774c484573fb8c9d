// Package resultcache lets equal queries share one result.
//
// A query waits for the result of an equal query that is running (singleflight). A query that comes soon after gets
// the cached result (LRU, limited in bytes and in age). A query that comes later gets it while the data have the same
// version. Results that took long stay in the cache longer than others. Each caller still waits for its own turn, so
// no caller waits behind the share of another. The first caller whose turn comes runs the query; the others give up
// their places.
//
// cache.go is the entry point, flight.go is a run that callers share, and lru.go has the cached results. The package
// imports nothing of this module.
package resultcache
