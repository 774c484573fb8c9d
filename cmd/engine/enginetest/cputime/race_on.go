//go:build linux && race

package cputime

// RaceFactor is the largest factor by which the race detector slows code down.
const RaceFactor = 30
