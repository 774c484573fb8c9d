// Command powercut cuts the power under the default installation: one `octavo serve` with its embedded engines on an ext4 file system
// of its own. At a random moment it keeps what has reached the disk by then and nothing else, kills every process, starts again on
// what was kept, and compares what was acknowledged with what is stored.
//
// It needs root, for loop devices and mounts. It must not import what it judges but the names of the events table.
package main
