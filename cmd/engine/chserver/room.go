package chserver

import (
	"context"
	"log/slog"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// The engine writes when it starts, and ends when it cannot (guardWrites): on a full disk it would start again and again. So it waits
// for some room first.
const (
	roomToStart = 32 << 20
	roomEvery   = 200 * time.Millisecond
)

// awaitRoom waits until so much is free. What cannot be told counts as room.
func awaitRoom(ctx context.Context, log *slog.Logger, free func() (int64, error)) error {
	for said := false; ; said = true {
		n, err := free()
		if err != nil {
			log.Warn("Cannot tell how much of the disk is free.", "error", err)
		}
		if err != nil || n >= roomToStart {
			return nil //nolint:nilerr // the engine may find room
		}
		if !said {
			log.Error("The disk is full: the engine starts when there is room.", "least_free", roomToStart)
		}
		select {
		case <-time.After(roomEvery):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func freeBytes(dir string) (int64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, os.NewSyscallError("statfs", err)
	}
	return int64(s.Bavail) * s.Bsize, nil
}
