// Package deadletter stores the events that cannot be stored in the table. They are in a topic next to the topic of the
// log. The sink writes letters. An operator lists them and puts their events back into the log.
//
//   - letter.go: the contents of a letter
//   - writer.go: making letters durable
//   - letters.go: reading them, and replaying their events
//
// It imports schema/insights and ingest/eventlog. It must not import sink, because the sink decides which events become
// dead letters.
package deadletter
