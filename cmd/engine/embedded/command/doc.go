// Package command is the command-line side of the engines, `octavo engine …`: flags, signals, the line that says that an engine is ready.
//
// It is a package, not part of the octavo program, so that tests run the same commands in a program that needs nothing of the product
// to compile. Of this module it imports only cmd/engine/….
package command
