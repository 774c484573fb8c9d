// Package bench is empty. README.md describes how to run the programs in the folders below it:
//
//	run           ratios to ceilings that the same run measures
//	chaos         faults of every process under load
//	powercut      power cuts of the default installation
//	damage        damaged files of the default installation
//	abuse         callers that use as many resources as they can
//	repositories  which changes Octavo makes to other people's repositories
//	screenshots   takes the pictures in deploy/screenshots
//	merges        compares Octavo's merges of pages with git's merges
//	loadgen       sends load and measures it
//	witness       records acknowledged events, and compares them with what is stored
//	product       builds an octavo and its settings
//	single        one octavo serve with everything embedded
//	gitserver     serves Git repositories
//	disk          file systems that freeze, fill and lose power
//	machine       describes the machine and the commit
package bench
