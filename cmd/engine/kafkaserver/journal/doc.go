// Package journal is a small durable map: topics, committed offsets, whatever the broker must remember besides records.
//
// What Put has returned for is on the disk. Changes are appended to one file and share its syncs; when the file has grown to several
// times what it says, or a sync of it failed, it is written anew beside the old one and takes its name's place.
//
// Of this module it imports only cmd/engine/kafkaserver/disk.
package journal
