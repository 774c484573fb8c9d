// Package disk is the file system as the broker uses it: a small interface whose operations a test can make fail or
// lose.
//
// It must not import any other package of this module.
package disk
