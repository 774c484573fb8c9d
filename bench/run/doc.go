// Command run measures Octavo against its ceilings: each budget of the design
// is a ratio of two loads that take turns on one machine in one run.
//
// It drives the server from outside, by HTTP, and reads the engines' own
// counts. Rows that compare one function with another call the function. It
// must not be imported, and nothing it does may depend on how cmd wires a node.
package main
