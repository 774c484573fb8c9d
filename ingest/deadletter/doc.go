// Package deadletter stores events that the events table cannot store. Each event becomes a dead letter in a topic next
// to the log's topic. The sink writes dead letters. An operator lists them and appends their events to the log again.
//
//   - letter.go: the contents of a letter
//   - writer.go: making letters durable
//   - letters.go: reading them, and replaying their events
//
// It imports schema/insights and ingest/eventlog. It must not import sink, because the sink decides which events become
// dead letters.
package deadletter
