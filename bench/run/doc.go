// Command run measures Octavo against its ceilings. Each budget of the design is the ratio of two loads. The loads take
// turns on one machine in one run.
//
// It sends requests to the server by HTTP, and reads the engines' own counters. Rows that compare two functions call
// them directly. The command must not be imported. Its code must not depend on the wiring of a node in cmd.
package main
