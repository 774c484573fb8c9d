// Package journal is a small durable map for the broker's data besides records: topics, committed offsets, producer
// ids.
//
// When Put has returned, its change is on disk. Changes are appended to a file, and concurrent changes share a sync.
// After a failed sync, or when the file has grown to several times its live content, a new file replaces it.
//
// Entries that a kill or a power cut left unsynced are ignored if they are incomplete. Entries are written in groups,
// and each group is synced before the next group is written. The first entry of a group has a mark. If an entry with a
// mark follows unreadable bytes, acknowledged entries are damaged, and Open refuses the file.
//
// The only other package of this module that it may import is cmd/engine/kafkaserver/disk.
package journal
