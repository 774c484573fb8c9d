// Package seglog is the log of one partition: record batches (v2), one after the other, in segment files. On disk, a
// batch's leader epoch is a checksum of its header.
//
// Append answers when the batch is on disk, and only synced batches can be read: a batch becomes visible to readers
// after a sync has succeeded, never before. Concurrent appends share one sync. After a failed sync, nothing is
// acknowledged until the previously synced data has been verified, rewritten and synced again, and a new segment has
// begun.
//
// A full segment is never written again. Beside it is a summary (index, last time, producers). Summaries are not
// synced: if one is missing or does not match its file, it is rebuilt from the batches' headers. So a start reads and
// checks only the last segment. After a clean stop it checks no segment.
//
// Damage is what a disk did: changed bytes, a lost file, a read error. Readers check every batch and go on at the next
// good one, which they find by its version, length and checksums (damage.go). So consumers see a gap in the offsets,
// and never other records at an old offset. An ERROR says once what is lost, and names the file .damaged that keeps the
// damaged bytes. The damaged segment stays as it is, and the next batch begins a new one. The last segment's end is
// incomplete if no good batch is behind it, and is cut off. A power cut may damage batches that waited for the same
// sync. This damage counts as damage of acknowledged batches, because it looks the same.
//
// Of this module it may import only cmd/engine/kafkaserver/disk.
package seglog
