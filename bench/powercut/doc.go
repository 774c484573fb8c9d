// Command powercut simulates power cuts of the default installation: one `octavo serve` with embedded engines, on a
// separate ext4 file system. At a random time it takes a snapshot of the disk and kills every process. Then it starts
// the node again with the data of the snapshot, and compares the acknowledged events with the stored events.
//
// The command needs root, for loop devices and mounts. Of the code that it judges, it may import only the name of the
// events table.
package main
