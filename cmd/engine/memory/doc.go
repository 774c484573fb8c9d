// Package memory divides the memory of a container or machine between the parts of a node.
//
//   - limit.go reads the limit: of the control groups of this process (versions 1 and 2), and of the machine
//   - parts.go has the table of the parts and divides the limit
//   - load.go halves the load of the engines when the kernel kills an engine
//
// It imports no package of this module.
package memory
