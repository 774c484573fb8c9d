package chserver

import (
	"context"
	"log/slog"
	"time"
)

// The engine writes when it starts, and the write guard ends the process when a write fails. On a full disk, the
// process would restart in a loop. So awaitRoom waits for some free space first.
const (
	roomToStart = 32 << 20
	roomEvery   = 200 * time.Millisecond
)

// awaitRoom waits until `free` (disk.OS) reports roomToStart bytes. If `free` fails, awaitRoom does not wait.
func awaitRoom(ctx context.Context, log *slog.Logger, dir string, free func(dir string) (free, size int64, err error)) error {
	for logged := false; ; logged = true {
		n, _, err := free(dir)
		if err != nil {
			log.Warn("Cannot determine the free disk space.", "error", err)
		}
		if err != nil || n >= roomToStart {
			return nil //nolint:nilerr // there is enough space, or it is unknown whether there is
		}
		if !logged {
			log.Error("The disk is full: the engine starts when there is free space.", "least_free", roomToStart)
		}
		select {
		case <-time.After(roomEvery):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
