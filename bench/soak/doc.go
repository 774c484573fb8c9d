// Command soak puts an hour of everybody's work on one node, and checks that nothing grows.
//
// Eight sites send 8,000 events a second. Two dashboards ask four queries, the day's totals and the visitor segments
// every five seconds. Four editors write, merge, comment, search and read. The command prints a line for each minute.
//
// At the end it compares the last fifth of the minutes with the second fifth. It fails if memory, threads, open files
// or response times have grown by more than their noise. It also fails if a request was refused, or if the node did
// not store exactly the acknowledged events.
//
//	go run ./bench/soak --minutes 60
//	go run ./bench/soak --minutes 10 --minute 30s   # ten rows of 30 seconds
//
// The command may import only these packages of the module: bench/loadgen, bench/machine, bench/product, bench/single,
// cmd/engine/enginetest, ingest/eventgen.
package main
