// Command chaos shows that what Octavo acknowledged is stored, once, through
// faults of every process: it runs the engines, two API nodes and two sinks as
// processes of their own, sends them events with unique ids in an open loop,
// kills, pauses and cuts at random moments, and at the end compares the events
// that were acknowledged with the rows that are stored.
//
// It is the nodes' service manager, and otherwise an outsider: it knows HTTP,
// Kafka's and ClickHouse's protocols, the events table's name, and nothing of
// how ingest works. It must not be imported.
package main
