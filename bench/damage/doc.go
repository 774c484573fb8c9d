// Command damage damages files of a node, and then checks the node's answers. The outcome of a case is `right`, `said`,
// `refused` or `silent` (verdict.go). The outcome of a case is right, said, refused or silent (verdict.go).
//
// The command may import only these packages of the module: bench/machine, bench/product, bench/single,
// bench/gitserver, bench/witness, cmd/engine/enginetest for a free address, and schema for a token.
package main
