// Package disk is the broker's interface to the file system. It is small, so that tests can make its operations fail,
// or lose their changes.
//
// It must not import any other package of this module.
package disk
