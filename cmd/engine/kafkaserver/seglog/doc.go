// Package seglog is the log of one partition. Segment files have its record batches (v2), one after the other. On disk,
// a batch's leader epoch is a checksum of its header.
//
// Append returns when the batch is on disk. A batch becomes visible to readers only after its sync has succeeded.
// Concurrent appends share one sync. After a failed sync, the log verifies, rewrites and syncs the previously synced
// data, and begins a new segment. Only then does it acknowledge batches again.
//
// A full segment is never written again. Another file has the segment's summary (index, last time, producers).
// Summaries are not synced. A missing or wrong summary is rebuilt from the batches' headers. So a start reads and
// checks only the last segment. After a clean stop it checks no segment.
//
// Damage is changed bytes, a lost file or a read error of the disk. Readers check every batch. After damage they
// continue with the next good batch, which they find by its version, length and checksums (damage.go). So consumers see
// a gap in the offsets, and never different records at an old offset. A log line of level ERROR reports the loss once,
// and names the .damaged file with the damaged bytes. The damaged segment is not changed, and the next batch begins a
// new segment. If no good batch follows the damage, the log treats the rest of the last segment as an incomplete end
// and cuts it off. A power cut may damage batches that waited for the same sync. The log treats these batches like
// damaged acknowledged batches, because the damage looks the same.
//
// The only other package of this module that it may import is cmd/engine/kafkaserver/disk.
package seglog
