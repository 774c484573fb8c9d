// Package eventlog is the event log. The log is a Kafka topic. It stores the messages of accepted requests until the
// sinks have stored their events in ClickHouse.
//
//   - [Log] makes messages durable, for the intake: log.go gathers them by
//     partition, batch.go encodes them, produce.go sends them.
//   - [Topic] queries and reads one topic, for the sinks and the dead letters.
//
// A Log can start while Kafka is unavailable. It refuses messages until Kafka answers.
//
// This package imports schema/insights and ingest/retry. It must not import the packages that use it: intake, sink and
// deadletter.
package eventlog
