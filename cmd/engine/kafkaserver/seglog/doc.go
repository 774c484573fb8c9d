// Package seglog keeps one partition: record batches (v2) as they were sent, one behind the other, in segment files.
//
// What Append has answered is on the disk, and only that is read: a batch is there for readers when a sync of it has succeeded, never
// before. Appends that come together share one sync. After a failed one nothing is acknowledged until what was synced before has been
// verified, written and synced again, and a new segment begun.
//
// A segment that is full is never written again. Beside it lies a summary (index, last time, producers), which is not synced: one that
// is missing or not of this file is made again from the batches' headers. So only the last segment is read and checked at a start, after a
// clean stop not even that.
//
// Of this module it imports only cmd/engine/kafkaserver/disk.
package seglog
