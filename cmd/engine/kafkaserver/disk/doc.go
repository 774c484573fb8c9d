// Package disk is what the broker asks of a file system: few operations, each of which a test can make fail or forget.
//
// It imports nothing of this module.
package disk
