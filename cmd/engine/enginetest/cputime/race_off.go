//go:build linux && !race

package cputime

// RaceFactor is 1 without the race detector.
const RaceFactor = 1
