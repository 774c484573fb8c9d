// Command chaos checks that acknowledged events are stored exactly once, through faults of every process. It runs the
// engines, two API nodes and two sinks as separate processes. It sends events with unique ids at a fixed rate to the
// API nodes. At random moments it kills and pauses processes, and cuts connections. At the end it compares the
// acknowledged events with the stored rows.
//
// The command supervises the nodes as a service manager does. It has no code of ingest: it uses only HTTP, the
// protocols of Kafka and ClickHouse, and the name of the events table. It must not be imported.
package main
