// Package seglog is the log of one partition: record batches (v2), unchanged and one after the other, in segment files.
//
// Append answers when the batch is on disk, and only synced batches can be read: a batch becomes visible to readers
// after a sync has succeeded, never before. Concurrent appends share one sync. After a failed sync, nothing is
// acknowledged until the previously synced data has been verified, rewritten and synced again, and a new segment has
// begun.
//
// A full segment is never written again. Beside it is a summary (index, last time, producers). Summaries are not
// synced: if one is missing or does not match its file, it is rebuilt from the batches' headers. So a start reads and
// checks only the last segment, and after a clean stop not even that.
//
// Of this module it may import only cmd/engine/kafkaserver/disk.
package seglog
