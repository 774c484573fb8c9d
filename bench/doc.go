// Package bench has no code. README.md describes how to run the programs in the folders below it:
//
//	run           measures Octavo, as ratios to ceilings that the same run measures
//	chaos         injects faults into every process under load
//	powercut      simulates power cuts of the default installation
//	damage        damages files of the default installation
//	soak          puts everybody's work on one node for an hour, and checks that nothing grows
//	abuse         runs clients that use as many resources as they can
//	repositories  measures which changes Octavo makes to other people's repositories
//	screenshots   takes the pictures in deploy/screenshots
//	merges        compares Octavo's merges of pages with git's merges
//	loadgen       sends load and measures it
//	witness       records acknowledged events, and compares them with the stored events
//	product       builds the octavo binary and the settings of a node
//	single        runs one octavo serve with embedded engines
//	gitserver     serves Git repositories
//	disk          makes file systems that freeze, fill and lose power
//	machine       describes the machine and the commit
package bench
