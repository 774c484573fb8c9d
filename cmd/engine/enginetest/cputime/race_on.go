//go:build linux && race

package cputime

// RaceFactor bounds how much the race detector slows everything down.
const RaceFactor = 30
