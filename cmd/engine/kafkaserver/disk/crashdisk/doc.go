// Package crashdisk is a file system in memory for tests. It can simulate a power loss, and a test can make its
// operations fail. After a crash, unsynced changes are in a random state that a real disk could leave. A crash may lose
// a file's name, its content, or both, and may write only a part of the content.
//
// The only other package of this module that it may import is cmd/engine/kafkaserver/disk.
package crashdisk
