//go:build !(linux && amd64)

package chserver

import "errors"

// guardWrites returns an error: there is no guard for this platform, and without one the library loses data when the
// disk is full.
func guardWrites(string, string, uintptr) error {
	return errors.New("cannot guard the engine library's writes on this platform")
}
