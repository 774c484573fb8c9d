// Package packages finds the engines that npm installed: libchdb for ClickHouse and the Postgres binaries.
//
// It only looks and completes what npm left out (symlinks); it starts nothing and imports nothing else of this module.
package packages
