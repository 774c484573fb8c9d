// Package command has the commands `octavo engine …`: their flags, their signals, and the output line of a ready
// engine.
//
// It is separate from cmd/octavo, so that tests can run the commands in a program that compiles without the product. Of
// this module it may import only cmd/engine/….
package command
