// Command damage damages files of a node and judges the node's answers, once for each case of a table. The judgement is
// right, said, refused or silent. cases.go has the table of cases, and verdict.go defines the four words.
//
// The command may import only these packages of the module: bench/machine, bench/product, bench/single,
// bench/gitserver, bench/witness, cmd/engine/enginetest for a free address, and schema for a token.
package main
