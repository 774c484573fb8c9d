// Package gitsync moves files from and to Git repositories, over http and https, through package outbound.
//
//	Fetch  a branch's newest commit ──► pack in a temporary file ──► files, and a list of what was left
//	Push   the commit it builds on + changed paths ──► blobs, trees, a commit ──► the branch, if it has not moved
//
// No worktree is written, so no name in a repository becomes the name of a file on this machine. A pack is measured
// before any of its objects is reconstructed. So sizes, counts and time stay within Limits. Symbolic links, submodules,
// LFS pointers and names that could escape or collide are not read. Snapshot.Left lists them, and a push does not
// change them.
//
// Every error has a Step and a Reason, and a text for users. Step and Reason have a fixed set of values. Errors and
// their causes never contain login data. The bodies of refusals may contain login data, so they are not read.
//
// The package knows about Git, but not about spaces and pages. The only other package of this module that it imports is
// outbound.
package gitsync
