// Command damage damages the files of a node, one case after the other, and judges the node's answers: right, said,
// refused or silent. cases.go has the table of cases, and verdict.go defines these words.
//
// Of this module it may import bench/machine, bench/product, bench/single, bench/gitserver, bench/witness,
// cmd/engine/enginetest for an address, and schema for a token.
package main
