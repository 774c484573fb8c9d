// Command run measures Octavo and its ceilings. A ceiling does only the unavoidable part of the same work, for example
// a server that only decodes requests. Most budgets limit the ratio of two loads, which take turns on one machine in
// one run.
//
// It sends HTTP requests to the server, and reads the engines' own counters. Rows that compare two functions call these
// functions directly. The code must not depend on the code in cmd that builds a node.
package main
