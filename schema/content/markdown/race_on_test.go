//go:build race

package markdown

// raceFactor bounds how much the race detector slows everything down.
const raceFactor = 30
