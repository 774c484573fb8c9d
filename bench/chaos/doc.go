// Command chaos checks that acknowledged events are stored exactly once, although every process has faults. It runs the
// engines, two API nodes and two sinks as separate processes. It sends events with unique ids at a fixed rate to the
// API nodes. At random moments it kills and pauses processes, and cuts connections. At the end it compares the
// acknowledged events with the stored rows.
//
// The command restarts the nodes like a service manager. It imports no package of ingest. It uses only HTTP, the
// protocols of Kafka and ClickHouse, and the name of the events table.
package main
