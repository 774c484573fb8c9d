// Package crashdisk is a file system in memory for tests: it can lose power, and its operations fail when a test says
// so. After a crash, unsynced changes are in any state that a real disk could leave, as chosen by chance: names and
// content are independent, and writes may be torn.
//
// Of this module it may import only cmd/engine/kafkaserver/disk.
package crashdisk
