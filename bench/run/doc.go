// Command run measures Octavo against its ceilings: each budget of the design
// is the ratio of two loads that take turns on one machine in one run.
//
// It drives the server from outside, by HTTP, and reads the engines' own counters. Rows that compare one function with
// another call the function. It must not be imported. Its code may not depend on the wiring of a node in cmd.
package main
