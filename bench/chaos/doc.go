// Command chaos checks that what Octavo acknowledged is stored exactly once,
// through faults of every process. It runs the engines, two API nodes and two
// sinks as separate processes, sends them events with unique ids in an open
// loop, kills, pauses and cuts at random moments, and at the end compares the
// acknowledged events with the stored rows.
//
// It is the nodes' service manager, and otherwise an outsider: it knows HTTP,
// the protocols of Kafka and ClickHouse and the name of the events table, but
// not how ingest works. It must not be imported.
package main
