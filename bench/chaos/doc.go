// Command chaos checks that acknowledged events are stored exactly once, through faults of every process. It runs the
// engines, two API nodes and two sinks as separate processes. It sends them events with unique ids in an open loop. At
// random moments it kills and pauses processes, and cuts connections. At the end it compares the acknowledged events
// with the stored rows.
//
// It is the nodes' service manager, but has no knowledge of ingest. It uses only HTTP, the protocols of Kafka and
// ClickHouse, and the name of the events table. It must not be imported.
package main
