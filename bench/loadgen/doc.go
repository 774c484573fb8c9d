// Package loadgen sends load to an HTTP server over separate connections and measures it. An open loop sends at a fixed
// rate, even if the server is slow. A closed loop sends as fast as responses arrive.
//
// The package handles only bytes and times, and has no code about events. It must not import another package of this
// module.
package loadgen
