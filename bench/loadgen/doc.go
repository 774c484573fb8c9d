// Package loadgen sends load to an HTTP server over its own connections and
// measures it, in an open loop (at a fixed rate that the server cannot slow
// down) or a closed one (as fast as responses arrive).
//
// It knows bytes and times, not events. It must not import any package of this
// module.
package loadgen
