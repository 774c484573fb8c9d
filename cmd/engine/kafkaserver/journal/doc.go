// Package journal is a small durable map for everything the broker must remember besides records: topics, committed
// offsets, producer ids.
//
// When Put has returned, its change is on disk. Changes are appended to a file, and concurrent ones share a sync. When
// the file has grown to several times the size of its live content, or a sync has failed, a new file is written and
// replaces it.
//
// An incomplete end is ignored, as a kill leaves one. If a good entry follows what cannot be read, the file is damaged
// and Open refuses it.
//
// Of this module it may import only cmd/engine/kafkaserver/disk.
package journal
