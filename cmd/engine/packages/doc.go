// Package packages finds the engines that `make engines` installed: libchdb for ClickHouse, with its write guard, and
// the Postgres binaries.
//
// It only finds them and creates the symlinks that npm leaves out. It starts nothing and must not import any other
// package of this module.
package packages
