// Package kafkaserver is the embedded event log: a single broker that speaks Kafka's protocol on loopback. The records
// and group offsets that it has acknowledged survive kill -9 and a power loss.
//
// It is our own broker, because a single node has only this broker to protect acknowledged events from loss. It must
// not acknowledge records after a failed sync, must start in seconds with a log of any size, and must never fill the
// disk. It supports the requests that kafka-go uses, as one broker that leads every partition:
//
//   - produce (also idempotent), fetch with long polling, offsets by time, metadata with automatic topic creation;
//   - topics: create, delete, add partitions, configs (see topicConfigs), delete records;
//   - groups of the classic protocol with offsets, describe, list and delete;
//   - SCRAM-SHA-256.
//
// It does not support transactions, compaction (a topic with cleanup.policy=compact is refused), replication, fetch
// sessions, quotas, ACLs or the newer group protocols. Record batches of formats before version 2 are not converted.
//
// The log is a queue. Records that every group has committed are removed, except the newest, up to a limited size.
// Records that a group has not committed stay. When they reach the log's limit, or the disk is full, produce requests
// are answered POLICY_VIOLATION until space is available. Apache Kafka gives this answer only if an operator has set a
// policy. So clients can distinguish it from a fault.
//
// Damage loses only the damaged records: see seglog. A damaged journal is refused.
//
// The folders below it:
//
//	seglog   the log of one partition
//	journal  all other state
//	group    the coordinator of consumer groups
//	disk     the file system, which tests can make fail
//
// Package kafkaserver is the process of `octavo engine kafka`. The only other packages of this module that it may
// import are the four packages above and cmd/engine/supervise/dirlock.
package kafkaserver
