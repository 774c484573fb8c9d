// Command powercut cuts the power of the default installation: one `octavo serve` with embedded engines, on an ext4
// file system of its own. At a random moment it keeps exactly what has reached the disk, kills every process, starts
// the node again on what was kept, and compares what was acknowledged with what is stored.
//
// It needs root, for loop devices and mounts. It must not import the code that it judges, except the names of the
// events table.
package main
