// Package deadletter stores events that the events table cannot store. Each such event becomes a dead letter in a
// separate topic of Kafka. The topic's name is the log's topic name with the suffix `.dead`. The sink writes dead
// letters. An operator lists them and appends their events to the log again.
//
//   - letter.go: the contents of a letter
//   - writer.go: makes letters durable
//   - letters.go: reads letters, and appends their events to the log again
//
// This package imports schema/insights and ingest/eventlog. It must not import sink, because the sink decides which
// events become dead letters.
package deadletter
