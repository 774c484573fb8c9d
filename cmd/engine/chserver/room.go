package chserver

import (
	"context"
	"log/slog"
	"time"
)

// The engine writes when it starts, and ends when it cannot (guardWrites): on a full disk it would start again and again. So it waits
// for some room first.
const (
	roomToStart = 32 << 20
	roomEvery   = 200 * time.Millisecond
)

// awaitRoom waits until so much is free, as free tells (disk.OS). What it cannot tell counts as room.
func awaitRoom(ctx context.Context, log *slog.Logger, dir string, free func(dir string) (free, size int64, err error)) error {
	for said := false; ; said = true {
		n, _, err := free(dir)
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
