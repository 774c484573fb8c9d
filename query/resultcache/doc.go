// Package resultcache lets equal queries share one result.
//
// A query waits for the result of an equal query that is running (singleflight). A query that comes shortly afterwards
// gets the cached result (LRU, limited in bytes and in age). A later query gets the cached result while the data have
// the same version. Slow results stay in the cache longer than quick results. Each caller still waits for its own turn,
// so no caller waits in another caller's queue. The first caller that gets a turn runs the query, and the other callers
// stop waiting for a turn.
//
// cache.go is the entry point, flight.go has the run that callers share, and lru.go has the cached results. Package
// resultcache imports no other package of this module.
package resultcache
