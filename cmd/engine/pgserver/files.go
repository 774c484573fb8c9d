package pgserver

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Stored lists the folders and files with a cluster's data. Postgres changes them only while it runs.
var Stored = []string{
	"base", "global", "pg_xact", "pg_multixact", "pg_commit_ts", "pg_wal", "PG_VERSION", "postgresql.auto.conf",
}

// Temporary reports whether a cluster's file is temporary, so that Postgres can start without the file.
func Temporary(path string) bool {
	return filepath.Base(path) == "pg_internal.init" ||
		slices.Contains(strings.Split(path, string(filepath.Separator)), "pgsql_tmp")
}

const (
	atState      = 16 // position of the state in pg_control, after the system's id and two versions
	stateStopped = 1  // DB_SHUTDOWNED of catalog/pg_control.h
)

// StoppedCleanly reports whether a cluster's last server wrote all data to its files before it exited.
func StoppedCleanly(dataDir string) bool {
	control, err := os.ReadFile(filepath.Join(dataDir, "global", "pg_control"))
	return err == nil && len(control) >= atState+4 && binary.NativeEndian.Uint32(control[atState:]) == stateStopped
}
