// Package crashdisk is a file system in memory that can lose power, and that fails when a test says so. Of what was not synced a crash
// keeps what chance says, in any state that a real disk could leave: names and content go their own ways, writes may be torn.
package crashdisk
