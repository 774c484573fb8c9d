// Package packages finds the engines that `make engines` installed: libchdb for ClickHouse, with its write guard, and
// the Postgres binaries.
//
// It only finds the packages and creates the symlinks that npm leaves out. It starts no process. It must not import
// another package of this module.
package packages
