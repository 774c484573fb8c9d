// Package kafkaserver runs the embedded event log: one broker that speaks Kafka's protocol on loopback and keeps what it acknowledged,
// records and group offsets, on disk through kill -9 and a power cut.
//
// It is our own, and not a test double or Apache Kafka itself, because it is the one place that stands between an acknowledged event and
// its loss: it must stop acknowledging when a sync fails, start in seconds whatever the log's size, and never fill the disk. It does what
// kafka-go asks for, on one broker that leads everything:
//
//   - produce (also idempotent), fetch with long polls, offsets by time, metadata with topics made on demand;
//   - topics: create, delete, grow, configs (see topicConfigs), delete records;
//   - groups of the classic protocol, their offsets, describe, list, delete;
//   - SCRAM-SHA-256.
//
// It does not do transactions, compaction (a topic with cleanup.policy=compact is refused), replication, fetch sessions, quotas, ACLs or
// the newer group protocols, and it does not convert batches of formats before version 2.
//
// The log is a queue: what every group has committed is removed beyond a bounded rest; what one has not committed stays, and when that
// reaches the bound, or the disk is full, produces are answered POLICY_VIOLATION until there is room. Kafka itself answers a produce
// so only where an operator has set a policy, so clients can tell it from a fault.
//
// Packages: seglog keeps a partition, journal what else must be remembered, group coordinates, takeover reads what the broker of before
// left. It is the process behind `octavo engine kafka`. Of this module it imports only cmd/engine/supervise/dirlock.
package kafkaserver
