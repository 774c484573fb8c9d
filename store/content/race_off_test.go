//go:build !race

package content

const raceFactor = 1
