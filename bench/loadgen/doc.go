// Package loadgen drives an HTTP server over connections of its own and
// measures it, in an open loop (at a rate that the server cannot slow down) or
// a closed one (as fast as answers come).
//
// It knows bytes and times, not events. It must not import anything of ours.
package loadgen
