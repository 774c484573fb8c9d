// Package cmd is empty. It has these folders:
//
//	octavo   the program: commands, settings, and the wiring of all parts
//	engine   the embedded engines and their supervisor
//	gen      writes the generated documents
//	observe  registers the metrics of a process
package cmd
